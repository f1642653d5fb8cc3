"""One call under a limit on silence and a budget for all of it."""
import json
import os
import socket
import time
from urllib.parse import urlsplit


def call():
    url = urlsplit(os.environ["LAB_URL"])
    read = int(os.environ["LAB_READ_MS"]) / 1000
    budget = int(os.environ["LAB_BUDGET_MS"]) / 1000
    end = time.monotonic() + budget
    got = b""
    with socket.create_connection((url.hostname, url.port), timeout=budget) as sock:
        sock.sendall(f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n\r\n".encode())
        while True:
            # One read may wait for the partner's silence, or for what is left.
            left = end - time.monotonic()
            try:
                if left <= 0:
                    raise TimeoutError
                sock.settimeout(min(read, left))
                part = sock.recv(65536)
            except TimeoutError:
                return outcome("budget_exhausted" if left <= read else "read_timeout", got)
            if not part:
                return outcome("ok", got)
            got += part


def outcome(word, got):
    head, _, body = got.partition(b"\r\n\r\n")
    if word == "ok":
        announced = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        if announced != [len(body)]:
            word = "truncated"
    return {"class": word, "bytes": len(body)}


if __name__ == "__main__":
    print(json.dumps(call()))

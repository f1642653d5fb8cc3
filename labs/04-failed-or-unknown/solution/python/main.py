"""One payment, and what became of it: by where it stood when it ended."""
import http.client
import json
import os
import uuid
from urllib.parse import urlsplit


def send(key):
    url = urlsplit(os.environ["LAB_URL"])
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=int(os.environ["LAB_CONNECT_MS"]) / 1000)
    try:
        conn.connect()
    except OSError:
        return "failed"  # nothing was sent
    try:
        conn.sock.settimeout(int(os.environ["LAB_READ_MS"]) / 1000)
        conn.request("POST", url.path, headers={"Idempotency-Key": key} if key else {})
        answer = conn.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException):
        return "unknown"  # sent, and no whole answer
    finally:
        conn.close()
    if answer.status in (502, 504):
        return "unknown"
    return "done" if answer.status < 400 else "failed"


def pay():
    # One key for the payment, whatever becomes of its attempts.
    key = str(uuid.uuid4()) if os.environ["LAB_KEY"] == "yes" else None
    for _ in range(int(os.environ["LAB_TRIES"]) if key else 1):
        word = send(key)
        if word != "unknown":
            break
    return word


if __name__ == "__main__":
    print(json.dumps({"word": pay()}))

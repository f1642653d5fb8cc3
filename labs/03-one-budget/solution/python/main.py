"""Three calls under one budget: everything follows from the one moment at which it ends."""
import http.client
import json
import os
import time
from urllib.parse import urlsplit


def ms(name):
    return int(os.environ[name]) / 1000


budget = ms("LAB_BUDGET_MS")
wait = ms("LAB_WAIT_MS")
end = time.monotonic() + budget


def left():
    return end - time.monotonic()


def attempt(url):
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=left())
    try:
        conn.connect()
        conn.sock.settimeout(max(left(), 0.001))
        headers = {
            "X-Request-Timeout-Ms": str(int(left() * 1000)),
            "X-Request-Deadline": str(int((time.time() + left()) * 1000)),
        }
        conn.request("GET", url.path, headers=headers)
        answer = conn.getresponse()
        answer.read()
        return answer.status
    finally:
        conn.close()


def call(name, floor):
    url = urlsplit(os.environ["LAB_URL_" + name])
    for tries in (1, 2):
        if left() < floor:
            return "below_floor"
        try:
            status = attempt(url)
        except TimeoutError:
            return "budget_exhausted"
        except OSError:
            return "failed"
        if status < 400:
            return "ok"
        if status != 503 or tries == 2:
            return "failed"
        if left() - wait < floor:
            return "below_floor"
        time.sleep(wait)


if __name__ == "__main__":
    floor = ms("LAB_FLOOR_MS")
    print(json.dumps({"a": call("A", floor), "b": call("B", floor), "c": call("C", ms("LAB_FLOOR_C_MS"))}))

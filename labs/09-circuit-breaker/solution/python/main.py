"""A circuit breaker: closed, open, half-open; it judges after a result, never before enough of them."""
import http.client
import json
import os
import time
from urllib.parse import urlsplit

calls, every, read, minimum, rate, open_ms, probes = (
    int(os.environ["LAB_" + name]) for name in ("CALLS", "EVERY_MS", "READ_MS", "MIN_CALLS", "RATE", "OPEN_MS", "PROBES")
)
url = urlsplit(os.environ["LAB_URL"])


def call():
    """Whether the call failed, or "no answer"."""
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=read / 1000)
    try:
        conn.request("GET", url.path)
        answer = conn.getresponse()
        answer.read()
        status = answer.status
        return status == 429 or status >= 500
    except (OSError, http.client.HTTPException):
        return "no answer"
    finally:
        conn.close()


class Breaker:
    def __init__(self):
        self.state, self.results, self.opened = "closed", [], 0

    def need(self):
        return probes if self.state == "half" else minimum

    def call(self):
        """ok, failed or open."""
        if self.state == "open":
            if time.monotonic() - self.opened < open_ms / 1000:
                return "open"
            self.state = "half"
            self.results = []
        return "failed" if self.record(call()) else "ok"

    def record_answered(self, failed):
        return failed if failed == "no answer" else self.record(failed)

    def record(self, failed):
        self.results = (self.results + [bool(failed)])[-self.need() :]
        if len(self.results) < self.need():
            return failed
        bad = sum(self.results) * 100 >= rate * len(self.results)
        if bad:
            self.state, self.opened = "open", time.monotonic()
        if bad or self.state == "half":
            self.results = []
        if not bad:
            self.state = "closed"
        return failed


if __name__ == "__main__":
    breaker = Breaker()
    count = {"calls": calls, "ok": 0, "failed": 0, "open": 0}
    start = time.monotonic()
    for i in range(calls):
        time.sleep(max(0, start + i * every / 1000 - time.monotonic()))
        count[breaker.call()] += 1
    print(json.dumps(count))

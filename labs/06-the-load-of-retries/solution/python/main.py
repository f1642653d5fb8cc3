"""Retries out of a bucket that the calls fill, and a bulkhead before the workers."""
import http.client
import http.server
import json
import os
import threading
from urllib.parse import urlsplit

percent = int(os.environ["LAB_PERCENT"])
read = int(os.environ["LAB_READ_MS"]) / 1000
url = urlsplit(os.environ["LAB_URL"])
workers = threading.Semaphore(int(os.environ["LAB_WORKERS"]))
slow = threading.Semaphore(int(os.environ["LAB_SLOW"]))


def ask():
    """Whether a whole answer below 500 came within the limit."""
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=read)
    try:
        conn.request("GET", url.path)
        answer = conn.getresponse()
        answer.read()
        return answer.status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        conn.close()


class Throttle:
    """Tokens in hundredths, so that nothing is rounded."""

    def __init__(self, burst):
        self.full = self.tokens = burst * 100

    def call(self):
        self.tokens = min(self.full, self.tokens + percent)

    def retry(self):
        if self.tokens >= 100:
            self.tokens -= 100
            return True
        return False


def make_calls():
    calls, tries = int(os.environ["LAB_CALLS"]), int(os.environ["LAB_TRIES"])
    throttle = Throttle(int(os.environ["LAB_BURST"]))
    ok = 0
    for _ in range(calls):
        throttle.call()
        for attempt in range(tries):
            if attempt > 0 and not throttle.retry():
                break
            if ask():
                ok += 1
                break
    print(json.dumps({"ok": ok, "failed": calls - ok}))


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(self.answer())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self):
        if self.path != "/slow":
            with workers:
                return 200
        # Who finds the compartment full never waits for a worker.
        if not slow.acquire(blocking=False):
            return 503
        try:
            with workers:
                return 200 if ask() else 504
        finally:
            slow.release()

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    if os.environ["LAB_MODE"] == "serve":
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        print(f"ready http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()
    make_calls()

"""One hop of a chain: the time it was given, less what it took, is what it passes on."""
import http.client
import http.server
import os
import re
import time
from urllib.parse import urlsplit

policy = os.environ["LAB_POLICY"]
tries = int(os.environ["LAB_TRIES"])
cost = int(os.environ["LAB_COST_MS"]) / 1000
budget = int(os.environ["LAB_BUDGET_MS"]) / 1000
url = urlsplit(os.environ["LAB_URL"])


def seconds_told(headers):
    """What the request leaves us, in seconds; our own cap holds always."""
    if policy == "none":
        return 3600
    text = headers.get("X-Request-Timeout-Ms")
    if policy == "each" or text is None or not re.fullmatch("-?[0-9]{1,9}", text):
        return budget
    return min(int(text) / 1000, budget)


def attempt(until, told):
    """The status of one try, or None if the time is over."""
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=until - time.monotonic())
    headers = {}
    if policy == "pass":
        headers["X-Request-Timeout-Ms"] = str(int((until - time.monotonic()) * 1000))
    try:
        conn.request("GET", url.path, headers=headers)
        answer = conn.getresponse()
        answer.read()
        return answer.status
    except TimeoutError:
        return None
    except (OSError, http.client.HTTPException):
        return 502
    finally:
        conn.close()


def work(headers):
    told = seconds_told(headers)
    if told <= 0:
        return 504
    until = time.monotonic() + told
    for _ in range(tries):
        if until - time.monotonic() < cost:
            return 504
        status = attempt(until, told)
        if status is None:
            return 504
        if status < 400:
            return 200
    return 502


class Hop(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status = work(self.headers)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hop)
    print(f"ready http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()

"""Retries without a throttle, a server without a bulkhead. See TASK.md."""
import http.server
import json
import os
import threading
import urllib.request

workers = threading.Semaphore(int(os.environ["LAB_WORKERS"]))


def ask():
    try:
        with urllib.request.urlopen(os.environ["LAB_URL"]) as answer:
            answer.read()
        return True
    except OSError:
        return False


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with workers:
            status = 200 if self.path != "/slow" or ask() else 504
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    if os.environ["LAB_MODE"] == "serve":
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        print(f"ready http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()
    calls, tries = int(os.environ["LAB_CALLS"]), int(os.environ["LAB_TRIES"])
    ok = sum(any(ask() for _ in range(tries)) for _ in range(calls))
    print(json.dumps({"ok": ok, "failed": calls - ok}))

"""Many calls over few connections, with a limit in force in every phase."""
import errno
import http.client
import json
import os
import threading
from urllib.parse import urlsplit

pool = threading.Semaphore(int(os.environ["LAB_POOL"]))
lock = threading.Lock()
count = {"ok": 0, "status": 0, "pool_timeout": 0, "connect_timeout": 0, "kernel_timeout": 0, "read_timeout": 0}


def ms(name):
    return int(os.environ[name]) / 1000


def exchange(url):
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=ms("LAB_CONNECT_MS"))
    try:
        try:
            conn.connect()
        except TimeoutError as err:
            # A limit of ours has no error number: that would be the kernel's.
            return "kernel_timeout" if err.errno == errno.ETIMEDOUT else "connect_timeout"
        conn.sock.settimeout(ms("LAB_READ_MS"))
        try:
            conn.request("GET", url.path)
            answer = conn.getresponse()
            answer.read()
        except TimeoutError:
            return "read_timeout"
        return "ok" if answer.status < 400 else "status"
    finally:
        conn.close()


def call(url, go):
    go.wait()
    if not pool.acquire(timeout=ms("LAB_POOL_MS")):
        return "pool_timeout"
    word = None
    try:
        word = exchange(url)
        return word
    finally:
        pool.release()


def run(url, go):
    word = call(url, go)
    with lock:
        count[word] += 1


if __name__ == "__main__":
    go = threading.Event()
    url = urlsplit(os.environ["LAB_URL"])
    threads = [threading.Thread(target=run, args=(url, go)) for _ in range(int(os.environ["LAB_CALLS"]))]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    print(json.dumps(count))

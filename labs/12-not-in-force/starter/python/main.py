"""Many calls over few connections. See TASK.md."""
import json
import os
import threading
import urllib.request

pool = threading.Semaphore(int(os.environ["LAB_POOL"]))
count = {"ok": 0, "status": 0, "pool_timeout": 0, "connect_timeout": 0, "kernel_timeout": 0, "read_timeout": 0}


def call():
    with pool:  # for how long?
        try:
            urllib.request.urlopen(os.environ["LAB_URL"], timeout=int(os.environ["LAB_READ_MS"]) / 1000).read()
            count["ok"] += 1
        except OSError:
            count["read_timeout"] += 1  # was it?


threads = [threading.Thread(target=call) for _ in range(int(os.environ["LAB_CALLS"]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(count))

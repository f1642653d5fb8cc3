"""Calls without a breaker. See TASK.md."""
import json
import os
import time
import urllib.request

calls = int(os.environ["LAB_CALLS"])
failed = 0
for i in range(calls):
    try:
        with urllib.request.urlopen(os.environ["LAB_URL"], timeout=int(os.environ["LAB_READ_MS"]) / 1000) as answer:
            answer.read()
    except OSError:
        failed += 1  # and the next one all the same
    time.sleep(int(os.environ["LAB_EVERY_MS"]) / 1000)
print(json.dumps({"calls": calls, "ok": calls - failed, "failed": failed, "open": 0}))

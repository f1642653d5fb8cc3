"""Retries. See TASK.md."""
import json
import os
import time
import urllib.error
import urllib.request


def retry_delay(attempt, base, cap, jitter):
    return 100  # the same for everyone, for ever


def call():
    tries = int(os.environ["LAB_TRIES"])
    for attempt in range(1, tries + 1):
        try:
            request = urllib.request.Request(os.environ["LAB_URL"], method=os.environ["LAB_METHOD"])
            with urllib.request.urlopen(request, timeout=2) as answer:
                answer.read()
            return {"class": "ok", "attempts": attempt}
        except OSError:
            time.sleep(retry_delay(attempt, 0, 0, 0) / 1000)  # whatever it was
    return {"class": "failed", "attempts": tries}


if __name__ == "__main__":
    if os.environ["LAB_MODE"] == "delay":
        print(json.dumps({"delays": [retry_delay(*ask) for ask in json.loads(os.environ["LAB_ASK"])]}))
    else:
        print(json.dumps(call()))

"""One call under two limits. See TASK.md."""
import json
import os
import urllib.request


def call():
    read = int(os.environ["LAB_READ_MS"]) / 1000
    try:
        # What does this timeout bound? And where is the budget?
        with urllib.request.urlopen(os.environ["LAB_URL"], timeout=read) as answer:
            return {"class": "ok", "bytes": len(answer.read())}
    except OSError:
        return {"class": "read_timeout", "bytes": 0}


if __name__ == "__main__":
    print(json.dumps(call()))

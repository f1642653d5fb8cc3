"""One payment, and what became of it. See TASK.md."""
import json
import os
import urllib.request


def send():
    try:
        request = urllib.request.Request(os.environ["LAB_URL"], method="POST")
        with urllib.request.urlopen(request, timeout=int(os.environ["LAB_READ_MS"]) / 1000):
            return "done"  # is it?
    except OSError:
        return "failed"  # has it?


if __name__ == "__main__":
    print(json.dumps({"word": send()}))

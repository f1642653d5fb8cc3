"""One call, and one word for how it ended. See TASK.md."""
import os
import urllib.request


def call():
    try:
        # One limit, two seconds, for everything: too long, and when it ends
        # the call nobody knows what it was waiting for.
        with urllib.request.urlopen(os.environ["LAB_URL"], timeout=2) as answer:
            answer.read()
        return "ok"
    except OSError:
        return "failed"  # is that all there is to say?


if __name__ == "__main__":
    print(call())

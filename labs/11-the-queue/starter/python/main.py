"""Jobs, worked off from memory: a crash forgets them. See TASK.md."""
import json
import os
import urllib.request


def main():
    results = {}
    for job in json.loads(os.environ["LAB_JOBS"]):
        try:
            request = urllib.request.Request(os.environ["LAB_URL"], method="POST")
            with urllib.request.urlopen(request, timeout=1) as answer:
                answer.read()
            results[job["id"]] = "done"
        except OSError:
            results[job["id"]] = "failed"
    print(json.dumps(results))


if __name__ == "__main__":
    main()

"""A limit from the p99 of good answers, with the line that says why."""
import datetime
import http.client
import json
import math
import os
import time
from urllib.parse import urlsplit

url = os.environ["LAB_URL"]
cap = int(os.environ["LAB_CAP_MS"]) / 1000


def call(parts):
    """The status, or None if no whole answer came within the cap."""
    conn = http.client.HTTPConnection(parts.hostname, parts.port, timeout=cap)
    try:
        conn.request("GET", parts.path)
        answer = conn.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        conn.close()


def main():
    times, failed = [], 0
    for _ in range(int(os.environ["LAB_CALLS"])):
        start = time.monotonic()
        status = call(urlsplit(url))
        if status is None or status >= 400:
            failed += 1
            continue
        times.append((time.monotonic() - start) * 1000)
    times.sort()
    out = {"n": len(times), "failed": failed, "p99_ms": None, "limit_ms": None}
    if len(times) < 100:
        out["reason"] = f"{url} on {datetime.date.today()}: too few answers for a p99, n={len(times)}"
    else:
        p99 = times[math.ceil(0.99 * len(times)) - 1]
        out["p99_ms"], out["limit_ms"] = round(p99, 1), math.ceil(3 * p99)
        day = f"{url} on {datetime.date.today()}: "
        out["reason"] = f"{day}p99={p99:.1f}ms, factor=3, n={len(times)}"
    print(json.dumps(out))


if __name__ == "__main__":
    main()

"""Retries: only what is temporary, only what may happen twice, and not all at once."""
import http.client
import json
import math
import os
import random
import time
from urllib.parse import urlsplit


def whole(x):
    return not (isinstance(x, bool) or not isinstance(x, int)) and x >= 1


def number(x):
    return not isinstance(x, bool) and isinstance(x, (int, float)) and math.isfinite(x)


def retry_delay(attempt, base, cap, jitter):
    if not (whole(attempt) and whole(base) and whole(cap) and number(jitter) and 0 <= jitter <= 1):
        raise ValueError("out of range")
    return math.floor(min(cap, base * 2 ** min(attempt - 1, 62)) * jitter)


def delays(asked):
    out = []
    for ask in asked:
        try:
            out.append(retry_delay(*ask))
        except ValueError:
            out.append("refused")
    return {"delays": out}


def attempt_once(url, method, left):
    """The status and Retry-After, or None if no whole answer came."""
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=left)
    try:
        conn.request(method, url.path)
        answer = conn.getresponse()
        answer.read()
        return answer.status, answer.getheader("Retry-After")
    except (OSError, http.client.HTTPException):
        return None, None
    finally:
        conn.close()


def call():
    url = urlsplit(os.environ["LAB_URL"])
    method = os.environ["LAB_METHOD"]
    tries, base, cap = (int(os.environ[n]) for n in ("LAB_TRIES", "LAB_BASE_MS", "LAB_CAP_MS"))
    end = time.monotonic() + int(os.environ["LAB_BUDGET_MS"]) / 1000
    for attempt in range(1, tries + 1):
        status, after = attempt_once(url, method, end - time.monotonic())
        if status is not None and status < 400:
            return {"class": "ok", "attempts": attempt}
        temporary = status is None or status in (429, 502, 503, 504)
        unknown = status in (None, 502, 504)
        may_repeat = not unknown or method == "GET"
        if not temporary or not may_repeat or attempt == tries:
            word = "status" if status else "failed" if method == "GET" else "unknown"
            return {"class": word, "attempts": attempt}
        wait = retry_delay(attempt, base, cap, random.random()) / 1000
        if after is not None and after.isascii() and after.isdigit():
            wait = int(after)
        if wait > end - time.monotonic():
            return {"class": "does_not_fit", "attempts": attempt}
        time.sleep(wait)


if __name__ == "__main__":
    if os.environ["LAB_MODE"] == "delay":
        print(json.dumps(delays(json.loads(os.environ["LAB_ASK"]))))
    else:
        print(json.dumps(call()))

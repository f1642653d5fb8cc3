"""Layers of limits: what each may take at worst, against what the one outside waits."""
import http.client
import json
import os
import time
from urllib.parse import urlsplit


def whole(n, least):
    return isinstance(n, int) and not isinstance(n, bool) and n >= least


def makes_sense(layers):
    return len(layers) >= 2 and all(
        whole(layer["limit_ms"], 1) and whole(layer["retries"], 0) and whole(layer["wait_ms"], 0) for layer in layers
    )


def audit(layers):
    if not makes_sense(layers):
        return {"verdict": "refused"}
    found = {"verdict": "sound", "layer": "", "worst_ms": 0, "outer_ms": 0}
    rank = {"sound": 0, "tight": 1, "cannot_hold": 2}
    for i, layer in enumerate(layers[1:], 1):
        worst = layer["limit_ms"] * (layer["retries"] + 1) + layer["wait_ms"] * layer["retries"]
        outer = layers[i - 1]["limit_ms"]
        verdict = "cannot_hold" if worst >= outer else "tight" if worst * 10 > outer * 8 else "sound"
        if rank[verdict] > rank[found["verdict"]]:
            found = {"verdict": verdict, "layer": layer["name"], "worst_ms": worst, "outer_ms": outer}
    found["no_reason"] = [layer["name"] for layer in layers if not layer.get("reason")]
    return found


def attempt(url, end):
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=max(end - time.monotonic(), 0.001))
    try:
        conn.request("GET", url.path)
        conn.getresponse().read()
    except (OSError, http.client.HTTPException):
        pass
    finally:
        conn.close()


def call():
    url = urlsplit(os.environ["LAB_URL"])
    outer, tries, wait = (int(os.environ["LAB_" + name]) for name in ("OUTER_MS", "TRIES", "WAIT_MS"))
    limit = int((0.7 * outer - wait * (tries - 1)) / tries)
    for i in range(tries):
        if i > 0:
            time.sleep(wait / 1000)
        attempt(url, time.monotonic() + limit / 1000)
    return {"limit_ms": limit, "worst_ms": limit * tries + wait * (tries - 1)}


if __name__ == "__main__":
    print(json.dumps(call() if os.environ["LAB_MODE"] == "call" else audit(json.loads(os.environ["LAB_LAYERS"]))))

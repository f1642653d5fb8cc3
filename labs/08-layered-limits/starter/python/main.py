"""Layers of limits. See TASK.md."""
import json
import os
import urllib.request

if os.environ["LAB_MODE"] == "call":
    for _ in range(int(os.environ["LAB_TRIES"])):
        try:
            # The whole of what one is given, for each try.
            urllib.request.urlopen(os.environ["LAB_URL"], timeout=int(os.environ["LAB_OUTER_MS"]) / 1000).read()
        except OSError:
            pass
    print(json.dumps({"limit_ms": 0, "worst_ms": 0}))
else:
    # Every layer is shorter than the one outside it. Is that enough?
    layers = json.loads(os.environ["LAB_LAYERS"])
    fine = all(a["limit_ms"] > b["limit_ms"] for a, b in zip(layers, layers[1:]))
    print(json.dumps({"verdict": "sound" if fine else "cannot_hold", "layer": "", "worst_ms": 0, "outer_ms": 0, "no_reason": []}))

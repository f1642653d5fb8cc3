"""A durable queue: first on disk, then on the wire."""
import http.client
import json
import os
import sqlite3
import time
from urllib.parse import urlsplit

url = urlsplit(os.environ["LAB_URL"])
delay = int(os.environ["LAB_DELAY_MS"])
read = int(os.environ["LAB_READ_MS"]) / 1000


def now():
    return int(time.time() * 1000)


def open_queue():
    # Every statement is a transaction of its own, on disk when it returns.
    db = sqlite3.connect(os.path.join(os.environ["LAB_DIR"], "queue.db"), isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE IF NOT EXISTS job(id TEXT PRIMARY KEY, state TEXT, attempts INT, most INT, due INT, deadline INT)")
    for job in json.loads(os.environ["LAB_JOBS"]):
        db.execute(
            "INSERT OR IGNORE INTO job VALUES (?, 'pending', 0, ?, ?, ?)",
            (job["id"], job["max_attempts"], now(), now() + job["deadline_ms"]),
        )
    # What was being sent when the program died: once more, and at once.
    db.execute("UPDATE job SET state = 'pending', due = ? WHERE state = 'claimed'", (now(),))
    return db


def send(job):
    """The status, or None if no whole answer came."""
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=read)
    try:
        conn.request("POST", url.path, headers={"Idempotency-Key": job["id"]})
        answer = conn.getresponse()
        answer.read()
        return (answer.status,)
    except (OSError, http.client.HTTPException):
        return (None,)
    finally:
        conn.close()


def finish(db, job, state):
    db.execute("UPDATE job SET state = ? WHERE id = ?", (state, job["id"]))


def settle(db, job, status):
    if status is not None and status < 400:
        finish(db, job, "done")
    elif status is not None and 400 <= status < 500:
        finish(db, job, "permanent")
    elif job["attempts"] + 1 >= job["most"]:
        finish(db, job, "exhausted")
    elif now() + delay >= job["deadline"]:
        finish(db, job, "deadline")
    else:
        db.execute("UPDATE job SET state = 'pending', due = ? WHERE id = ?", (now() + delay, job["id"]))


def claim(db, job):
    if job["attempts"] >= job["most"]:
        return finish(db, job, "exhausted")
    if now() >= job["deadline"]:
        return finish(db, job, "deadline")
    db.execute("UPDATE job SET state = 'claimed', attempts = attempts + 1 WHERE id = ?", (job["id"],))
    return True


def main():
    db = open_queue()
    while True:
        job = db.execute("SELECT * FROM job WHERE state = 'pending' ORDER BY due, rowid").fetchone()
        if job is None:
            break
        if job["due"] > now():
            time.sleep((job["due"] - now()) / 1000 + 0.001)
        if not claim(db, job):
            continue
        settle(db, job, *send(job))
    print(json.dumps({job["id"]: job["state"] for job in db.execute("SELECT * FROM job ORDER BY rowid")}))


if __name__ == "__main__":
    main()

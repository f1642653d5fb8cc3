"""One call, and one word for how it ended: by where it stood, not by the error's text."""
import http.client
import os
from urllib.parse import urlsplit


def call():
    url = urlsplit(os.environ["LAB_URL"])
    connect = int(os.environ["LAB_CONNECT_MS"]) / 1000
    read = int(os.environ["LAB_READ_MS"]) / 1000
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=connect)
    try:
        conn.connect()
    except ConnectionRefusedError:
        return "refused"
    except TimeoutError:
        return "connect_timeout"
    try:
        # From here on another limit is in force.
        conn.sock.settimeout(read)
        conn.request("GET", url.path)
        conn.getresponse().read()
        return "ok"
    except TimeoutError:
        return "read_timeout"
    finally:
        conn.close()


if __name__ == "__main__":
    print(call())

"""client.py LIBRARY URL: one GET with the library's own timeout settings."""
import os
import sys
import time

library, url = sys.argv[1:]
read, connect, total = (float(os.environ[name]) for name in ("READ", "CONNECT", "TOTAL"))

if library == "urllib":
    import ssl
    import urllib.request

    def get():
        with urllib.request.urlopen(url, timeout=read, context=ssl._create_unverified_context()) as answer:
            answer.read()

elif library == "requests":
    import requests

    def get():
        requests.get(url, timeout=(connect, read), verify=False)

elif library == "httpx":
    import httpx

    def get():
        httpx.get(url, timeout=httpx.Timeout(read, connect=connect), verify=False)

elif library == "aiohttp":
    import asyncio

    import aiohttp

    async def fetch():
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=total)) as session:
            async with session.get(url, ssl=False) as answer:
                await answer.read()

    def get():
        asyncio.run(fetch())


begun = time.monotonic()
try:
    get()
finally:
    print(f"took {time.monotonic() - begun:.3f}")

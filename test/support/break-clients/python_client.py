"""Sends requests by urllib, all at once, and says for each what a program sees. See `break-clients.ts`."""
import json
import socket
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

jobs = json.load(sys.stdin)["jobs"]

# Every hostname is here, also those that a redirect names.
find = socket.getaddrinfo
socket.getaddrinfo = lambda host, port, *rest, **more: find("127.0.0.1", port, *rest, **more)


def result(response):
    body = response.read().decode("utf-8")
    text = json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"))
    return {"status": response.status, "retryAfter": response.headers["Retry-After"], "text": text, "error": None}


def send(job):
    try:
        request = urllib.request.Request(job["url"], headers=job["headers"])
        with urllib.request.urlopen(request, timeout=job["timeoutMs"] / 1000) as response:
            return result(response)
    except urllib.error.HTTPError as error:
        if error.code >= 400:
            return result(error)
        return {"status": error.code, "retryAfter": None, "text": "", "error": f"HTTPError: {str(error).splitlines()[0]}"}
    except Exception as error:
        return {"status": 0, "retryAfter": None, "text": "", "error": f"{type(error).__name__}: {error}"}


with ThreadPoolExecutor(max_workers=len(jobs)) as pool:
    print(json.dumps(list(pool.map(send, jobs))))

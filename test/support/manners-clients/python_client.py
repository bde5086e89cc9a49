"""`python3 python_client.py CLIENT BASE KEY`: the same requests by urllib3's Retry, or by tenacity."""
import json, os, socket, sys
import urllib3
from tenacity import RetryError, retry, retry_if_result, stop_after_attempt, wait_exponential

client, base, key = sys.argv[1:]
find = socket.getaddrinfo
socket.getaddrinfo = lambda host, *rest, **more: find('127.0.0.1', *rest, **more)
headers = {'authorization': 'Bearer ' + key}
policy = urllib3.Retry(total=4, backoff_factor=0.3, status_forcelist=[429, 500, 503], raise_on_status=False)
pool = urllib3.PoolManager(retries=policy if client == 'urllib3' else False)

@retry(stop=stop_after_attempt(4), wait=wait_exponential(multiplier=0.3), retry=retry_if_result(lambda answer: answer.status >= 429))
def ask(method, path):
    return pool.request(method, base + path, headers=headers)

for method, path in json.loads(os.environ['REQUESTS']):
    try:
        pool.request(method, base + path, headers=headers) if client == 'urllib3' else ask(method, path)
    except (RetryError, urllib3.exceptions.HTTPError):
        pass

"""A client of requests, with the retries of urllib3; with REPEATS_POST=1, it repeats what may be done twice."""
import os
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

methods = None if os.environ.get('REPEATS_POST') == '1' else frozenset(['GET', 'HEAD'])
policy = dict(total=3, backoff_factor=0.1, status_forcelist=[429, 500, 503])
session = requests.Session()
session.mount('https://', HTTPAdapter(max_retries=Retry(allowed_methods=methods, **policy)))
session.headers['Authorization'] = 'Bearer ' + os.environ['VIVARIUM_KEY']


def ask(method, path, body=None):
    answer = session.request(method, os.environ['VIVARIUM_URL'] + path, json=body, timeout=4)
    answer.raise_for_status()
    return answer.json()

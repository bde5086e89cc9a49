"""Prints, for each hostname, its addresses by getaddrinfo or the error."""
import socket
import sys
from concurrent.futures import ThreadPoolExecutor


def look(host):
    try:
        return ", ".join(sorted({found[4][0] for found in socket.getaddrinfo(host, 80)}))
    except OSError as error:
        return f"{type(error).__name__}: {error}"


hosts = sys.argv[1:]
with ThreadPoolExecutor(len(hosts)) as pool:
    for host, text in zip(hosts, pool.map(look, hosts)):
        print(f"{host}\t{text}")

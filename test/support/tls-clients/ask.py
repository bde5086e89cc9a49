"""Arguments: the root's file, the HTTPS port, hostnames. Prints a line for each: the hostname, a tab, what Python says."""
import socket
import ssl
import sys

root, port, *hostnames = sys.argv[1:]
for hostname in hostnames:
    context = ssl.create_default_context(cafile=root)
    context.set_alpn_protocols(["http/1.1"])
    try:
        with socket.create_connection(("127.0.0.1", int(port))) as raw:
            with context.wrap_socket(raw, server_hostname=hostname) as secure:
                request = f"GET / HTTP/1.1\r\nHost: {hostname}\r\nConnection: close\r\n\r\n"
                secure.sendall(request.encode())
                status = secure.recv(4096).decode("latin1").split(" ")[1]
                print(hostname, "accepts it" if status == "200" else status, sep="\t")
    except OSError as error:
        print(hostname, error, sep="\t")

/** http-proxy as its documentation shows it, with connections to the upstream that are kept. */
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createProxyServer } from 'http-proxy';

const proxy = createProxyServer({ target: process.argv[2] ?? '', agent: new Agent({ keepAlive: true }) });
proxy.on('error', () => undefined);
const server = createServer((request, response) => proxy.web(request, response));
server.on('upgrade', (request, socket, head) => proxy.ws(request, socket, head));
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));

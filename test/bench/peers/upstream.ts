/** An upstream: answers `/N` with N bytes once it has the whole request, and echoes WebSockets. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const bodies = new Map<string, Buffer>();

function bodyOf(target: string): Buffer {
  const known = bodies.get(target) ?? Buffer.alloc(Number(target.slice(1)), 'x');
  bodies.set(target, known);
  return known;
}

const server = createServer((request, response) => {
  const body = bodyOf(request.url ?? '');
  request.resume().on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  });
});
server.keepAliveTimeout = 0;
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('error', () => undefined);
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));

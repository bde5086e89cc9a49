/**
 * An upstream: `/stream?bytes=N` sends that many bytes, `/never` does not answer, `/trickle` does not end, `/open`
 * tells how many requests are in progress on how many sockets. WebSockets are echoed; at `/push` they are sent 4 KiB
 * every 20 ms, and at `/deaf` the server neither reads nor closes.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const CHUNK = Buffer.alloc(64 * 1024, 'x');
const open = new Set<ServerResponse>();

function stream(response: ServerResponse, bytes: number): void {
  let left = bytes;
  response.writeHead(200, { 'Content-Length': bytes });
  const write = (): void => {
    while (left > 0) {
      const chunk = left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK;
      left -= chunk.length;
      if (!response.write(chunk)) return;
    }
    response.end();
  };
  response.on('drain', write);
  write();
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://upstream');
  if (pathname === '/open') {
    server.getConnections((_error, sockets) => response.end(JSON.stringify({ requests: open.size, sockets })));
    return;
  }
  request.resume();
  open.add(response);
  response.on('close', () => open.delete(response));
  if (pathname === '/stream') stream(response, Number(searchParams.get('bytes')));
  if (pathname === '/trickle') response.write('x'.repeat(1000));
});
server.keepAliveTimeout = 0;
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
const PUSHED = Buffer.alloc(4 * 1024, 'x');
sockets.on('connection', (socket, request) => {
  socket.on('error', () => undefined);
  if (request.url === '/deaf') request.socket.pause();
  else if (request.url === '/push') {
    const timer = setInterval(() => socket.send(PUSHED), 20);
    socket.on('close', () => clearInterval(timer));
  } else socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));

/**
 * Sends requests and aborts each at another point: in its header section, as soon as it is sent, in the middle of its
 * body, at the first byte of the answer, half-way through an upgrade and after it, by a reset or with one side still
 * open. Arguments: port, host, number of requests.
 */
import { connect } from 'node:net';

const [portText = '', host = '', countText = ''] = process.argv.slice(2);
const CLIENTS = 50;
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const head = (method: string, path: string, fields = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\n`;
const WAYS: { bytes: string; waits: boolean; ends?: boolean }[] = [
  { bytes: head('GET', '/never').slice(0, -2), waits: false },
  { bytes: head('GET', '/never'), waits: false },
  { bytes: `${head('POST', '/never', 'Content-Length: 100000\r\n')}half`, waits: false },
  { bytes: head('GET', '/trickle'), waits: true },
  { bytes: head('GET', '/stream?bytes=100000000'), waits: true },
  { bytes: head('GET', '/echo', upgrade), waits: false },
  { bytes: head('GET', '/echo', upgrade), waits: true },
  { bytes: head('GET', '/push', upgrade), waits: true },
  { bytes: head('GET', '/deaf', upgrade), waits: true },
  { bytes: head('GET', '/push', upgrade), waits: true, ends: true },
];

let left = Number(countText);
async function runClient(): Promise<void> {
  while (left > 0) {
    const way = WAYS[left-- % WAYS.length] as (typeof WAYS)[number];
    await new Promise<void>((resolve) => {
      const socket = connect(Number(portText), '127.0.0.1', () => {
        socket.write(way.bytes, () => {
          // A few turns later, the request is somewhere between its first stage and the upstream.
          if (!way.waits) setTimeout(() => socket.resetAndDestroy(), left % 5);
        });
      });
      socket.once('data', () => {
        if (way.ends !== true) socket.resetAndDestroy();
        // Its other side stays open and unread for a moment.
        else socket.pause().end(() => setTimeout(() => socket.resetAndDestroy(), 5));
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve());
    });
  }
}
await Promise.all(Array.from({ length: CLIENTS }, runClient));
console.log('done');

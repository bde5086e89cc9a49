/**
 * Opens WebSockets and has numbered messages echoed on each of them at an even pace, for some seconds. Prints how many
 * were lost, how many arrived out of order, and the 50th and 99th percentile of the round trip in milliseconds.
 * Arguments: URL, host, sockets, messages a second on each, seconds.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';

const [url = '', host = '', ...numbers] = process.argv.slice(2);
const [count = 1, rate = 1, seconds = 1] = numbers.map(Number);
const CLIENTS = 50;

const sockets: WebSocket[] = [];
const delays: number[] = [];
let sent = 0;
let received = 0;
let disorder = 0;

async function open(): Promise<void> {
  while (sockets.length < count) {
    const socket = new WebSocket(url, { headers: { host }, perMessageDeflate: false });
    sockets.push(socket);
    let expected = 0;
    socket.on('message', (data: Buffer) => {
      const [number, sentMs] = data.toString().split(' ').map(Number);
      delays.push(performance.now() - (sentMs ?? 0));
      received++;
      if (number !== expected++) disorder++;
    });
    await once(socket, 'open');
  }
}
await Promise.all(Array.from({ length: CLIENTS }, open));

const total = count * rate * seconds;
const startMs = performance.now();
await new Promise<void>((resolve) => {
  const timer = setInterval(() => {
    const due = Math.min(total, ((performance.now() - startMs) / 1000) * count * rate);
    while (sent < due) {
      sockets[sent % count]?.send(`${Math.floor(sent / count)} ${performance.now()} ${'x'.repeat(100)}`);
      sent++;
    }
    if (sent < total) return;
    clearInterval(timer);
    resolve();
  }, 1);
});
const endMs = performance.now() + 5000;
while (received < sent && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 10));
delays.sort((a, b) => a - b);
const percentile = (part: number): number => delays[Math.floor(delays.length * part)] ?? Number.NaN;
console.log(JSON.stringify({ sent, lost: sent - received, disorder, p50: percentile(0.5), p99: percentile(0.99) }));
process.exit(0);

/**
 * Keeps as many slow clients connected as it can: each begins an exchange, then sends a byte at a time or reads
 * nothing. A client that is disconnected reconnects. Prints `pressing` once all have connected. Ends with its input.
 * Arguments: port, clients, and as JSON what each does.
 */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface SlowClient {
  /** What it sends first, and how many times. */
  start: string;
  times?: number;
  /** What it then sends repeatedly, with a pause; nothing if absent. */
  trickle?: string;
  /** Whether it leaves incoming data unread. */
  deaf?: boolean;
  /** The server name of the TLS handshake; plain TCP if absent. */
  servername?: string;
}

const [portText = '', countText = '', wayText = '{}'] = process.argv.slice(2);
const way = JSON.parse(wayText) as SlowClient;
const TRICKLE_MS = 3_000;
/** A disconnected client is slow to reconnect, too: this measures patience, not throughput. */
const RETURN_MS = 5_000;
/** Concurrent connects, so that the listener's backlog is not what is measured. */
const CLIENTS = 200;

const { servername } = way;
const open = (onReady: () => void): Socket =>
  servername === undefined
    ? connect(Number(portText), '127.0.0.1', onReady)
    : connectTls({ port: Number(portText), host: '127.0.0.1', servername, rejectUnauthorized: false }, onReady);

function press(onSettled: () => void): void {
  let timer: NodeJS.Timeout | undefined;
  let settled = false;
  const settle = (): void => {
    if (!settled) onSettled();
    settled = true;
  };
  const socket = open(() => {
    if (way.start !== '') socket.write(Buffer.from(way.start.repeat(way.times ?? 1), 'latin1'));
    if (way.trickle !== undefined) timer = setInterval(() => socket.write(way.trickle ?? ''), TRICKLE_MS);
    settle();
  });
  socket.setMaxListeners(0);
  if (way.deaf === true) socket.pause();
  else socket.resume();
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    settle();
    // At another moment than the others that were disconnected with it.
    setTimeout(() => press(() => undefined), RETURN_MS * (1 + Math.random()));
  });
}

let left = Number(countText);
async function runClient(): Promise<void> {
  while (left-- > 0) await new Promise<void>((resolve) => press(resolve));
}
await Promise.all(Array.from({ length: CLIENTS }, runClient));
console.log('pressing');
process.stdin.on('end', () => process.exit(0)).resume();

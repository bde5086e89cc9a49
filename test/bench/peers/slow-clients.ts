/**
 * Keeps as many slow clients connected as it can: each begins something, and then sends a byte at a time or reads
 * nothing. One that is closed comes again. Prints `pressing` once all have connected. Ends with its input.
 * Arguments: port, clients, and as JSON what each does.
 */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface SlowClient {
  /** What it sends at once, so many times. */
  start: string;
  times?: number;
  /** What it sends again and again, with a pause; nothing more if absent. */
  trickle?: string;
  /** Whether it leaves what comes unread. */
  deaf?: boolean;
  /** The server name of the TLS handshake that comes first; plain TCP if absent. */
  servername?: string;
}

const [portText = '', countText = '', wayText = '{}'] = process.argv.slice(2);
const way = JSON.parse(wayText) as SlowClient;
const TRICKLE_MS = 3_000;
/** A client that was closed is slow to come again, too: what is measured is patience, not throughput. */
const RETURN_MS = 5_000;
/** Connects at a time, so that the backlog of the listener is not what is measured. */
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
    // At another moment than the others that were closed with it.
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

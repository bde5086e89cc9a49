import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { codeOf } from '../../base/error-code.ts';
import { describePortHolder } from '../../base/system/port-holder.ts';
import type { Listener } from '../../base/system/process-ports.ts';
import { VivariumError } from '../../contract/errors.ts';

/** How long a server may take to answer before the port is ignored. */
const ANSWER_MS_MAX = 2_000;

/** What is known about the port to serve. */
export interface PortHints {
  /** The port that the command got in `PORT`. */
  given: number;
  /** The served port, which is kept while the command listens on it. */
  current: number | null;
}

/** The listener to serve: the current one, the requested one, the only one, or the only one that speaks HTTP. */
export async function choosePort(
  listeners: readonly Listener[],
  { given, current }: PortHints,
  speaks: (listener: Listener) => Promise<string | null> = schemeOf,
): Promise<readonly Listener[]> {
  const certain = listeners.find(({ port }) => port === current) ?? listeners.find(({ port }) => port === given);
  if (certain !== undefined) return [certain];
  if (listeners.length < 2) return listeners;
  const schemes = await Promise.all(listeners.map(speaks));
  const speaking = listeners.filter((_listener, index) => schemes[index] !== null);
  return speaking.length === 0 ? listeners : speaking;
}

/** The scheme of a server; null if it neither answers over HTTP in time nor accepts TLS. */
export async function schemeOf({ host, port }: Pick<Listener, 'host' | 'port'>): Promise<'http' | 'https' | null> {
  const answer = await askOverHttp(`http://${host}:${port}/`);
  if (answer !== 'refused') return answer === 'answered' ? 'http' : null;
  return (await acceptsTls(host.replace(/[[\]]/g, ''), port)) ? 'https' : null;
}

function askOverHttp(url: string): Promise<'answered' | 'silent' | 'refused'> {
  return new Promise((resolve) => {
    const asking = request(url, { method: 'HEAD', agent: false, timeout: ANSWER_MS_MAX }, (answer) => {
      answer.resume();
      resolve('answered');
    });
    // Not aborted: a dev server may be compiling for this first request, and some report an abort as their error.
    asking.on('timeout', () => resolve('silent'));
    asking.on('socket', (socket) => socket.unref());
    asking.on('error', () => resolve('refused'));
    asking.end();
  });
}

/** Development servers have self-signed certificates. */
function acceptsTls(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTls({ host, port, rejectUnauthorized: false, timeout: ANSWER_MS_MAX });
    const settle = (accepts: boolean) => {
      resolve(accepts);
      socket.destroy();
    };
    socket.once('secureConnect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}

/** The requested port, once any program listens there: Docker's proxy, for example, listens for a command. */
export function openAt(port: number): Promise<readonly Listener[]> {
  return new Promise((resolve) => {
    const socket = connect({ host: 'localhost', port, timeout: ANSWER_MS_MAX });
    const settle = (found: readonly Listener[]) => {
      resolve(found);
      socket.destroy();
    };
    socket.once('connect', () => settle([{ port, host: 'localhost', pid: 0 }]));
    socket.once('timeout', () => settle([]));
    socket.once('error', () => settle([]));
  });
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = await listenOn(0);
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** @throws VivariumError that names the program that has the port. */
export async function checkFree(port: number): Promise<void> {
  try {
    const server = await listenOn(port);
    server.close();
    await once(server, 'close');
  } catch (cause) {
    const code = codeOf(cause);
    const why =
      code === 'EADDRINUSE' ? `is taken${describePortHolder(port, 'tcp')}` : `cannot be used (${code ?? 'unknown'})`;
    throw new VivariumError(
      'conflict',
      `Port ${port}, which the command is to open, ${why}. Stop it there, or choose another port with --port.`,
      { cause },
    );
  }
}

async function listenOn(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port);
  await once(server, 'listening');
  return server;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, type RequestOptions } from 'node:http';
import { get as getSecure } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { SlowClient } from '../peers/slow-clients.ts';
import { createOpenProject, end, type Figure, startVivarium, temporaryFolder, type Vivarium } from '../harness.ts';

const PEER = join(import.meta.dirname, '..', 'peers', 'slow-clients.ts');
const CLIENTS = Number(process.env.SLOW_CLIENTS ?? 10_000);
/** Only the kinds whose listener and name contain this, such as `DNS` or `trickled body`. */
const ONLY = process.env.SLOW_KIND ?? '';
const NEWCOMERS = 60;
const NEWCOMER_EACH_MS = 100;
const PATIENCE_MS = 2_000;
const SERVED_MIN = 0.95;

type ListenerName = 'HTTP' | 'HTTPS' | 'control port' | 'DNS';

interface Kind extends SlowClient {
  name: string;
  listener: ListenerName;
}

/** A DNS question for A of `x.vivarium.localhost`, with the length that TCP puts before it (RFC 1035 §4.2.2). */
const QUESTION = '\0\x26\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01x\x08vivarium\x09localhost\0\0\x01\0\x01';

const kinds = ({ host, secret }: Newcomer, controlHost: string): Kind[] => {
  const head = (line: string, fields = ''): string => `${line} HTTP/1.1\r\nHost: ${host}\r\n${fields}`;
  const page = `${head('GET /v1/openapi.json', `Authorization: Bearer ${secret}\r\n`)}\r\n`;
  const control = `GET /api/openapi.json HTTP/1.1\r\nHost: ${controlHost}\r\n`;
  return [
    { listener: 'HTTP', name: 'silent', start: '' },
    { listener: 'HTTP', name: 'trickled head', start: head('GET /'), trickle: 'X: y\r\n' },
    {
      listener: 'HTTP',
      name: 'trickled body',
      start: `${head('POST /v1/pets', 'Content-Length: 9999\r\n')}\r\n`,
      trickle: 'x',
    },
    {
      listener: 'HTTP',
      name: 'trickled chunks',
      start: `${head('POST /v1/pets', 'Transfer-Encoding: chunked\r\n')}\r\n`,
      trickle: '1\r\nx\r\n',
    },
    { listener: 'HTTP', name: 'unread pages', start: page, times: 10, deaf: true },
    { listener: 'HTTP', name: 'idle after an answer', start: page },
    { listener: 'HTTP', name: 'silent tunnel', start: `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n` },
    { listener: 'HTTPS', name: 'silent', start: '' },
    {
      listener: 'HTTPS',
      name: 'trickled ClientHello',
      start: '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
      trickle: 'x',
    },
    {
      listener: 'HTTPS',
      name: 'trickled body',
      servername: host,
      start: `${head('POST /v1/pets', 'Content-Length: 9999\r\n')}\r\n`,
      trickle: 'x',
    },
    { listener: 'control port', name: 'silent', start: '' },
    { listener: 'control port', name: 'trickled head', start: control, trickle: 'X: y\r\n' },
    { listener: 'control port', name: 'unread documents', start: `${control}\r\n`, times: 2, deaf: true },
    { listener: 'DNS', name: 'silent', start: '' },
    { listener: 'DNS', name: 'unread answers', start: QUESTION, times: 1_500, deaf: true },
  ];
};

/** A client with an API key, so that the slow clients do not use up its limits. */
type Newcomer = Pick<Awaited<ReturnType<typeof createOpenProject>>, 'host' | 'secret'>;

/** New clients on the listener that slow clients occupy, for each kind in turn. */
export async function slowClients(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, listener } of kinds({ host: '', secret: '' }, '')) {
    if (!`${listener} ${name}`.includes(ONLY)) continue;
    // A separate listener, because a listener under load would carry what it has learned over to the next kind.
    const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
    try {
      const project = await createOpenProject(vivarium, 'Pressed');
      const kind = kinds(project, new URL(vivarium.runtime.control.url).host).find(
        (each) => each.name === name && each.listener === listener,
      );
      if (kind !== undefined) figures.push(await measure(kind, vivarium, project));
    } finally {
      await end(vivarium.child);
    }
  }
  return figures;
}

async function measure(kind: Kind, vivarium: Vivarium, newcomer: Newcomer): Promise<Figure> {
  const { http, https, dns, control } = vivarium.runtime;
  const ports = {
    HTTP: http.port,
    HTTPS: https.port,
    DNS: dns.port,
    'control port': Number(new URL(control.url).port),
  };
  const port = ports[kind.listener];
  const presser = await press(kind, port);
  const took: number[] = [];
  const coming: Promise<unknown>[] = [];
  for (let count = 0; count < NEWCOMERS; count++) {
    coming.push(served(kind.listener, port, newcomer).then((ms) => (ms === null ? 0 : took.push(ms))));
    await new Promise((resolve) => setTimeout(resolve, NEWCOMER_EACH_MS));
  }
  await Promise.all(coming);
  presser.stdin?.end();
  await once(presser, 'exit');
  const share = took.length / NEWCOMERS;
  const slowest = Math.round(Math.max(0, ...took));
  return {
    what: `newcomers at the ${kind.listener} served while slow clients press: ${kind.name}`,
    measured: `${took.length} of ${NEWCOMERS}`,
    wanted: `${SERVED_MIN * 100} % within ${PATIENCE_MS / 1_000} s`,
    met: share >= SERVED_MIN,
    detail: `${CLIENTS.toLocaleString('en')} clients; the slowest newcomer waited ${slowest} ms`,
  };
}

async function press(kind: Kind, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PEER, String(port), String(CLIENTS), JSON.stringify(kind)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

/** How long a new client waits for its answer, in milliseconds; null if none arrives in time. */
async function served(listener: ListenerName, port: number, newcomer: Newcomer): Promise<number | null> {
  const startedMs = performance.now();
  const isServed = await (listener === 'DNS' ? asksDns(port) : asksHttp(listener, port, newcomer));
  const ms = performance.now() - startedMs;
  return isServed && ms <= PATIENCE_MS ? ms : null;
}

function asksHttp(listener: ListenerName, port: number, { host, secret }: Newcomer): Promise<boolean> {
  const options: RequestOptions = { port, host: '127.0.0.1', agent: false, timeout: PATIENCE_MS };
  const path = listener === 'control port' ? '/healthz' : '/v1/openapi.json';
  const headers = listener === 'control port' ? {} : { Host: host, Authorization: `Bearer ${secret}` };
  const secure = { servername: host, rejectUnauthorized: false };
  return new Promise((resolve) => {
    const asked =
      listener === 'HTTPS' ? getSecure({ ...options, ...secure, path, headers }) : get({ ...options, path, headers });
    asked.on('response', (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200));
      answer.on('error', () => resolve(false));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
  });
}

function asksDns(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(QUESTION, 'latin1')));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(false));
  });
}

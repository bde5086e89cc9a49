import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { sequence } from '../../support/sequence.ts';
import { type Fuzzer, type FuzzTarget, portIn } from '../fuzz/fuzzer.ts';
import { ACME, CLIENT_HELLO, DNS, HTTP1 } from '../fuzz/messages.ts';
import { HTTP2 } from '../fuzz/http2.ts';
import { IMPORTS } from '../fuzz/imports.ts';
import { CONTROL_SOCKET, WEB_SOCKET } from '../fuzz/web-socket.ts';
import { createOpenProject, end, longestMs, sample, startVivarium, temporaryFolder } from '../harness.ts';
import type { Figure, Vivarium } from '../harness.ts';

const FUZZERS: readonly Fuzzer[] = [DNS, HTTP1, HTTP2, CLIENT_HELLO, WEB_SOCKET, CONTROL_SOCKET, IMPORTS, ACME];

/** The total; a session of an hour takes 1,000,000. */
const MESSAGES = Number(process.env.FUZZ_MESSAGES ?? 100_000);
/** Sends only this kind. */
const KIND = process.env.FUZZ_KIND;
const STALL_MS_MAX = 250;

/**
 * Sends mutated messages of every kind that Vivarium reads. Vivarium must keep serving, never answer 500, and spend
 * little time on each. The seed repeats all messages.
 */
export async function fuzz(): Promise<Figure[]> {
  const seed = Number(process.env.FUZZ_SEED ?? Math.trunc(Date.now() / 1_000));
  const upstream = createServer((request, response) => void request.pipe(response));
  const sockets = new WebSocketServer({ server: upstream });
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const vivarium = await startVivarium(temporaryFolder(), ['--empty'], { probe: 'test/bench/peers/stall-probe.ts' });
  try {
    const target = await prepare(vivarium, portIn(upstream.address()));
    const figures: Figure[] = [];
    for (const [index, fuzzer] of FUZZERS.entries()) {
      if (KIND === undefined || KIND === fuzzer.name) figures.push(await run(fuzzer, target, seed + index, seed));
    }
    return figures;
  } finally {
    await end(vivarium.child);
    for (const socket of sockets.clients) socket.terminate();
    upstream.closeAllConnections();
    upstream.close();
  }
}

async function prepare(vivarium: Vivarium, upstreamPort: number): Promise<FuzzTarget> {
  const api = await createOpenProject(vivarium, 'Fuzzed API');
  const upstream = await vivarium.call<{ slug: string }>('projects.create', {
    name: 'Fuzzed upstream',
    target: { kind: 'upstream', url: `http://127.0.0.1:${upstreamPort}` },
  });
  const { projectId, secret, host } = api;
  return { vivarium, projectId, secret, apiHost: host, upstreamHost: `${upstream.slug}.vivarium.localhost` };
}

async function run(fuzzer: Fuzzer, target: FuzzTarget, ownSeed: number, seed: number): Promise<Figure> {
  const { vivarium } = target;
  const count = KIND === undefined ? Math.ceil(MESSAGES * fuzzer.share) : MESSAGES;
  await longestMs(vivarium.child);
  const startedMs = performance.now();
  const faults = await fuzzer.run(target, sequence(ownSeed), count);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const isAlive = vivarium.child.exitCode === null && vivarium.child.signalCode === null && (await serves(target));
  const stallMs = isAlive ? await longestMs(vivarium.child) : Number.NaN;
  return {
    what: `mutated messages: ${fuzzer.name}`,
    measured: `${count.toLocaleString('en')} sent, ${isAlive ? 'served on' : 'crashed'}, ${faults} × 500, longest stall ${Math.round(stallMs)} ms`,
    wanted: `served on, 0 × 500, ≤ ${STALL_MS_MAX} ms`,
    met: isAlive && faults === 0 && stallMs <= STALL_MS_MAX,
    detail: `${seconds} s; ${KIND === undefined ? '' : `FUZZ_KIND=${KIND} `}FUZZ_SEED=${seed} FUZZ_MESSAGES=${MESSAGES} npm run bench -- fuzz repeats them`,
  };
}

async function serves({ vivarium, apiHost, secret }: FuzzTarget): Promise<boolean> {
  const url = `http://127.0.0.1:${vivarium.runtime.http.port}/v1/pets?limit=1`;
  const answer = await sample(url, { Host: apiHost, Authorization: `Bearer ${secret}` }).catch(() => null);
  return answer?.status === 200;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  cpuSeconds,
  end,
  type Figure,
  median,
  portOf,
  residentMb,
  ROUNDS,
  runToEnd,
  startNode,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';
import { leadTo } from './upstream-requests.ts';

const PEERS = join(import.meta.dirname, '..', 'peers');
const GIB = 1024 ** 3;
const [SOCKETS, MESSAGES_PER_SECOND, SECONDS] = [1_000, 2, 5];
const ABORTS = 10_000;

/** Large, long-lived and aborted exchanges with an upstream. */
export async function upstreamStreams(): Promise<Figure[]> {
  const upstream = await startNode([join(PEERS, 'upstream.ts')], portOf);
  const url = `http://127.0.0.1:${upstream.ready}`;
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const host = await leadTo(vivarium, url);
  const descriptors = descriptorsOf(vivarium.child);
  const bare = await startNode([join(PEERS, 'pass-through.ts'), url], portOf);
  const { port } = vivarium.runtime.http;
  const figures = [
    ...(await download({ child: vivarium.child, port }, { child: bare.child, port: bare.ready }, host)),
    ...webSockets(upstream.ready, port, host),
    ...(await leaks(url, { child: vivarium.child, port }, host, descriptors)),
  ];
  for (const { child } of [bare, vivarium, upstream]) await end(child);
  return figures;
}

interface Side {
  child: ChildProcess;
  port: number;
}

async function download(ours: Side, least: Side, host: string): Promise<Figure[]> {
  for (const side of [ours, least]) await fetchBytes(side, host, GIB / 8);
  const beforeMb = residentMb(ours.child);
  const rounds: { ours: Speed; least: Speed }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ ours: await fetchBytes(ours, host, GIB), least: await fetchBytes(least, host, GIB) });
  }
  const growthMb = Math.max(...rounds.map((round) => round.ours.peakMb)) - beforeMb;
  const ratio = median(rounds.map((round) => round.ours.mbPerCpuSecond / round.least.mbPerCpuSecond));
  const speedOf = (side: 'ours' | 'least'): number =>
    Math.round(median(rounds.map((round) => round[side].mbPerCpuSecond)));
  return [
    {
      what: '1 GiB streamed through from an upstream: growth of resident memory',
      measured: `${growthMb.toFixed(1)} MB`,
      wanted: '≤ 20 MB',
      met: growthMb <= 20,
      detail: `peak of ${ROUNDS} downloads over ${Math.round(beforeMb)} MB after one of 128 MiB`,
    },
    {
      what: 'the same, throughput against a bare node:http pass-through, by processor time',
      measured: `${ratio.toFixed(2)} ×`,
      wanted: '≥ 0.9 ×',
      met: ratio >= 0.9,
      detail: `${speedOf('ours')} MB against ${speedOf('least')} MB for each second of one core`,
    },
  ];
}

interface Speed {
  mbPerCpuSecond: number;
  peakMb: number;
}

async function fetchBytes({ child, port }: Side, host: string, bytes: number): Promise<Speed> {
  const args = [
    '-sS',
    '-o',
    '/dev/null',
    '-w',
    '%{size_download}',
    '-H',
    `Host: ${host}`,
    `http://127.0.0.1:${port}/stream?bytes=${bytes}`,
  ];
  const before = cpuSeconds(child);
  let peakMb = 0;
  const look = setInterval(() => (peakMb = Math.max(peakMb, residentMb(child))), 20);
  const client = spawn('curl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let got = '';
  client.stdout.on('data', (chunk: Buffer) => (got += chunk.toString()));
  await once(client, 'close');
  clearInterval(look);
  if (Number(got) !== bytes) throw new Error(`${got} of ${bytes} bytes came through.`);
  return { mbPerCpuSecond: bytes / 1e6 / (cpuSeconds(child) - before), peakMb };
}

interface Echoes {
  sent: number;
  lost: number;
  disorder: number;
  p50: number;
  p99: number;
}

function webSockets(directPort: number, port: number, host: string): Figure[] {
  const echo = (to: number): Echoes =>
    JSON.parse(
      runToEnd(process.execPath, [
        join(PEERS, 'web-sockets.ts'),
        `ws://127.0.0.1:${to}/echo`,
        host,
        ...[SOCKETS, MESSAGES_PER_SECOND, SECONDS].map(String),
      ]),
    ) as Echoes;
  const rounds = Array.from({ length: ROUNDS }, () => ({ direct: echo(directPort), through: echo(port) }));
  const sent = rounds.reduce((sum, { through }) => sum + through.sent, 0);
  const broken = rounds.reduce((sum, { through }) => sum + through.lost + through.disorder, 0);
  const ratio = median(rounds.map(({ direct, through }) => (through.p99 - direct.p99) / direct.p99));
  const directMs = median(rounds.map(({ direct }) => direct.p99));
  const throughMs = median(rounds.map(({ through }) => through.p99));
  return [
    {
      what: `${SOCKETS} WebSockets echoing through to an upstream: messages lost or out of turn`,
      measured: String(broken),
      wanted: '0',
      met: broken === 0,
      detail: `of ${sent}`,
    },
    {
      what: 'the same, latency added at the 99th percentile, against direct',
      measured: `${ratio.toFixed(2)} ×`,
      wanted: '≤ 2 ×',
      met: ratio <= 2,
      detail: `${throughMs.toFixed(1)} ms through, ${directMs.toFixed(1)} ms direct`,
    },
  ];
}

async function leaks(url: string, { child, port }: Side, host: string, before: number): Promise<Figure[]> {
  runToEnd(process.execPath, [join(PEERS, 'aborts.ts'), String(port), host, String(ABORTS)]);
  let open = { requests: -1, sockets: -1 };
  // Resets are still on their way; a connection that is open after this long is a leak.
  for (let tries = 0; tries < 50 && (open.requests !== 0 || descriptorsOf(child) > before + open.sockets); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    open = (await (await fetch(`${url}/open`)).json()) as typeof open;
  }
  const left = descriptorsOf(child) - before;
  const clients = `${ABORTS.toLocaleString('en')} clients left in the middle`;
  return [
    {
      what: `requests left open at the upstream after ${clients}`,
      measured: String(open.requests),
      wanted: '0',
      met: open.requests === 0,
      detail: `${open.sockets} sockets, kept ones and that of this question among them`,
    },
    {
      what: `descriptors left open after ${clients}, WebSockets to upstreams that send or do not read among them`,
      measured: String(left),
      wanted: 'only kept connections to the upstream',
      met: left <= open.sockets,
      detail: `${before} before; ${open.sockets} connections at the upstream`,
    },
  ];
}

/** Open descriptors of a process; NaN on systems other than Linux. */
const descriptorsOf = ({ pid }: ChildProcess): number =>
  process.platform === 'linux' ? readdirSync(`/proc/${pid}/fd`).length : Number.NaN;

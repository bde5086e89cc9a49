import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { get as getSecure } from 'node:https';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { RuntimeFile } from '../../main/base/config.ts';
import { PROGRAM_FLAGS } from '../../main/cli/node-version.mjs';

export const ROOT = join(import.meta.dirname, '..', '..');
export const PROGRAM = join(ROOT, 'out', 'main', 'vivarium.js');

/** Rounds per comparison; the two sides take turns within each, and the median of the rounds' ratios counts. */
export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** Seconds of load per round and side. */
export const ROUND_SECONDS = Number(process.env.BENCH_SECONDS ?? 3);

export interface Figure {
  what: string;
  /** The measurement as printed: `0.71 ×`. */
  measured: string;
  wanted: string;
  met: boolean | null;
  detail: string;
}

const children = new Set<ChildProcess>();
const folders = new Set<string>();

// However the benchmark ends, none of its processes and folders stay behind.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vivarium-bench-'));
  folders.add(folder);
  return folder;
}

/** Ends every process that the benchmark started, by its id, and removes its folders. */
export async function cleanUp(): Promise<void> {
  for (const child of children) await end(child);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

export async function end(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Starts a Node program; resolves with its first line of output that `ready` accepts. */
export async function startNode<Ready>(
  args: readonly string[],
  ready: (output: string) => Ready | null,
  options: { ipc?: boolean } = {},
): Promise<{ child: ChildProcess; ready: Ready; startMs: number }> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit', ...(options.ipc === true ? (['ipc'] as const) : [])],
    env: { ...process.env, NO_COLOR: '1' },
  });
  children.add(child);
  let output = '';
  const value = await new Promise<Ready>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = ready(output);
      if (found !== null) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code} before it was ready`)));
  });
  return { child, ready: value, startMs: performance.now() - startedMs };
}

/** Starts a server that is not a Node program; resolves when `port` accepts connections. */
export async function startProgram(
  command: string,
  args: readonly string[],
  port: number,
  env: Record<string, string> = {},
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } });
  children.add(child);
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode} before it was ready`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(() => resolve(true)));
    socket.on('error', () => resolve(false));
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

export interface Vivarium {
  child: ChildProcess;
  runtime: RuntimeFile;
  startMs: number;
  /** Calls one procedure of the running Vivarium. */
  call<Output>(procedure: string, input?: unknown): Promise<Output>;
}

/** Starts the built program on free ports and its own folder; `probe` is loaded before it and accepts messages. */
export async function startVivarium(
  dataDir: string,
  args: readonly string[] = [],
  { probe }: { probe?: string } = {},
): Promise<Vivarium> {
  const ports = ['--http-port', '0', '--https-port', '0', '--dns-port', '0', '--control-port', '0'];
  const started = await startNode(
    [
      ...PROGRAM_FLAGS,
      ...(probe === undefined ? [] : ['--import', join(ROOT, probe)]),
      PROGRAM,
      'serve',
      '--data-dir',
      dataDir,
      ...ports,
      ...args,
    ],
    (output) => (output.includes('Stop with Ctrl-C') ? true : null),
    { ipc: probe !== undefined },
  );
  const runtime = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as RuntimeFile;
  return {
    child: started.child,
    runtime,
    startMs: started.startMs,
    async call<Output>(procedure: string, input: unknown = {}): Promise<Output> {
      const response = await fetch(`${runtime.control.url}/api/${procedure.replace('.', '/')}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${runtime.control.token}`,
          'content-type': 'application/json',
          // While a load is measured this process is blocked, and a kept connection times out meanwhile.
          connection: 'close',
        },
        body: JSON.stringify(input),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${procedure}: ${text}`);
      return JSON.parse(text) as Output;
    },
  };
}

/** The longest stretch of work of a server with the stall probe since the last call, in milliseconds. */
export async function longestMs(server: ChildProcess): Promise<number> {
  server.send('longest?');
  const [ms] = (await once(server, 'message')) as [number];
  return ms;
}

/** A project whose limits are out of reach, though every stage still runs; and a key of it. */
export async function createOpenProject(
  vivarium: Vivarium,
  name: string,
): Promise<{ projectId: string; secret: string; host: string }> {
  const project = await vivarium.call<{ id: string; slug: string }>('projects.create', {
    name,
    plan: 'enterprise',
    limits: { perMinute: 1_000_000_000, perDay: 1_000_000_000 },
  });
  const key = await vivarium.call<{ secret: string }>('keys.create', { projectId: project.id });
  return { projectId: project.id, secret: key.secret, host: `${project.slug}.vivarium.localhost` };
}

export interface Load {
  url: string;
  headers?: Record<string, string>;
  /** A wrk script (Lua), for other methods or changing paths. */
  script?: string;
  seconds?: number;
  connections?: number;
}

export interface LoadResult {
  /** The total, over the time that wrk really took: up to a tenth of a second more than requested. */
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Answers that were not 2xx or 3xx, and socket errors. */
  failures: number;
}

/** Runs wrk: one thread, 32 keep-alive connections. */
export function runWrk(load: Load): LoadResult {
  const done = spawnSync('wrk', wrkArguments(load), { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`wrk failed (apt-get install wrk): ${done.stderr} ${done.stdout}`);
  return readWrk(done.stdout);
}

function wrkArguments(load: Load): string[] {
  const args = [
    `-t1`,
    `-c${load.connections ?? 32}`,
    `-d${load.seconds ?? ROUND_SECONDS}s`,
    '--latency',
    '--timeout',
    '20s',
  ];
  for (const [name, value] of Object.entries(load.headers ?? {})) args.push('-H', `${name}: ${value}`);
  if (load.script !== undefined) args.push('-s', load.script);
  return [...args, load.url];
}

function readWrk(output: string): LoadResult {
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0);
  return {
    requests: number(/(\d+) requests in/),
    requestsPerSecond: number(/Requests\/sec:\s+([\d.]+)/),
    p50Ms: milliseconds(/50%\s+(\S+)/.exec(output)?.[1]),
    p99Ms: milliseconds(/99%\s+(\S+)/.exec(output)?.[1]),
    failures:
      number(/Non-2xx or 3xx responses: (\d+)/) +
      [...(/Socket errors: (.*)/.exec(output)?.[1] ?? '').matchAll(/\d+/g)].reduce(
        (sum, [count]) => sum + Number(count),
        0,
      ),
  };
}

function milliseconds(text: string | undefined): number {
  const match = /^([\d.]+)(us|ms|s)$/.exec(text ?? '');
  return match === null ? Number.NaN : Number(match[1]) * { us: 0.001, ms: 1, s: 1000 }[match[2] as 'us' | 'ms' | 's'];
}

/** The unit in which Linux counts processor time for programs; the same on every platform (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** Processor seconds of a process in user and system mode; elapsed time on systems other than Linux. */
export const cpuSeconds = (child: ChildProcess): number => secondsOf(String(child.pid), 11);

/** Those of all processes that this one has started and that have ended. */
export const endedCpuSeconds = (): number => secondsOf('self', 13);

/** The sum of two columns, counted from the state of a process: utime and stime are fields 14 and 15 (proc(5)). */
function secondsOf(pid: string, column: number): number {
  if (process.platform !== 'linux') return performance.now() / 1_000;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program's name, in brackets, may contain blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[column]) + Number(fields[column + 1])) / TICKS_PER_SECOND;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** A server and one round of load on it. */
export interface Loaded<Result> {
  child: ChildProcess;
  load: () => Result;
}

/**
 * Takes turns, A B A B …, and returns the median of the rounds' ratios A/B with the medians of both sides. `cost` tells
 * the processor time of each server per request, and the spread of the rounds.
 */
export function compare<Result extends { requests: number; failures: number }>(
  a: Loaded<Result>,
  b: Loaded<Result>,
  value: (result: Result) => number,
) {
  const one = ({ child, load }: Loaded<Result>) => {
    const before = cpuSeconds(child);
    const result = load();
    const { requests, failures } = result;
    if (failures > 0) throw new Error(`${failures} requests failed under load; the figure would mean nothing.`);
    return { value: value(result), cpu: (cpuSeconds(child) - before) / requests };
  };
  const rounds = Array.from({ length: ROUNDS }, () => ({ a: one(a), b: one(b) }));
  const ratios = rounds.map((round) => round.a.value / round.b.value);
  const [cpuA, cpuB] = [median(rounds.map((round) => round.a.cpu)), median(rounds.map((round) => round.b.cpu))];
  const byCpu = median(rounds.map((round) => round.b.cpu / round.a.cpu));
  return {
    ratio: median(ratios),
    byCpu,
    a: median(rounds.map((round) => round.a.value)),
    b: median(rounds.map((round) => round.b.value)),
    cost:
      `processor time of a request: ${microseconds(cpuA)} against ${microseconds(cpuB)}, ${byCpu.toFixed(2)} ×; ` +
      rangeOf(ratios),
  };
}

/** The spread of a comparison's rounds, which shows how noisy the machine was. */
export const rangeOf = (ratios: readonly number[]): string =>
  `rounds from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} ×`;

export const microseconds = (seconds: number): string => `${(seconds * 1e6).toFixed(0)} µs`;

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en')}/s`;

/** Resident memory of a process in MB. */
export function residentMb(child: ChildProcess): number {
  if (process.platform !== 'linux') {
    const done = spawnSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' });
    return Number(done.stdout.trim()) / 1024;
  }
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** Reads `port 1234` from a peer's output. */
export function portOf(output: string): number | null {
  const match = /port (\d+)/.exec(output);
  return match === null ? null : Number(match[1]);
}

export interface Sample {
  status: number;
  headers: Record<string, string>;
  /** A character for each byte. */
  body: string;
}

/** One answer with its headers as they were written, so that a peer can write the same bytes. */
export async function sample(url: string, headers: Record<string, string>): Promise<Sample> {
  // Any certificate will do, and the server need not close the connection.
  const options = { headers: { ...headers, Connection: 'keep-alive' }, agent: false, rejectUnauthorized: false };
  const asked = (url.startsWith('https:') ? getSecure : get)(url, options);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const body = (await buffer(response)).toString('latin1');
  asked.destroy();
  const written: Record<string, string> = {};
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index] ?? '';
    // Every Node server adds these three by itself.
    if (!/^(date|connection|keep-alive)$/i.test(name)) written[name] = response.rawHeaders[index + 1] ?? '';
  }
  return { status: response.statusCode ?? 0, headers: written, body };
}

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { execute as run } from '../command.ts';

/** A request that a client is to send. */
export interface ClientJob {
  /** With a hostname that all clients find on loopback. */
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  /** Which of Node's interfaces to use. */
  way: 'fetch' | 'http' | 'http2';
  /** Two requests at once on one connection; by Node only. */
  twice: boolean;
}

/** How a client saw the answer. */
export interface Seen {
  /** 0 without an answer. */
  status: number;
  retryAfter: string | null;
  /** The body, parsed and serialised again by the client; unchanged from curl. */
  text: string;
  /** Null if the client sees nothing wrong. */
  error: string | null;
}

const FOLDER = join(import.meta.dirname, '..', 'break-clients');
const PROGRAM_MS_MAX = 60_000;

/** The versions whose wording the catalogue quotes, as these programs print them. */
export const CLIENT_VERSIONS = {
  curl: { command: ['curl', '--version'], says: 'curl 7.88' },
  node: { command: [process.execPath, '--version'], says: 'v24.' },
  python: { command: ['python3', '--version'], says: 'Python 3.11.' },
  go: { command: ['go', 'version'], says: 'go version go1.19' },
} as const;

type Client = keyof typeof CLIENT_VERSIONS;

/** The clients that are installed in the version that the catalogue names. */
export async function clientsHere(): Promise<Client[]> {
  const found = await Promise.all(
    Object.entries(CLIENT_VERSIONS).map(async ([client, { command, says }]) => {
      const [program = '', ...args] = command;
      const { stdout } = await run(program, args).catch(() => ({ stdout: '' }));
      return stdout.startsWith(says) ? [client as Client] : [];
    }),
  );
  return found.flat();
}

function feed(command: string, args: readonly string[], input: unknown): Promise<Seen[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { timeout: PROGRAM_MS_MAX, env: { ...process.env, GO111MODULE: 'off' } });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as Seen[]);
      else reject(new Error(`${command} ended with ${code}: ${errors}`));
    });
    child.stdin.end(JSON.stringify(input));
  });
}

async function curl({ url, headers, timeoutMs, way }: ClientJob, caFile: string): Promise<Seen> {
  const { hostname, port } = new URL(url);
  const args = [
    ...['-sS', '-i', '-L', '--compressed', '--max-time', String(timeoutMs / 1_000), '--cacert', caFile],
    ...['--resolve', `${hostname}:${port}:127.0.0.1`, way === 'http2' ? '--http2' : '--http1.1'],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    url,
  ];
  const { stdout, stderr } = await run('curl', args, { encoding: 'latin1' }).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  );
  const [head = '', ...rest] = stdout.split(/\r\n\r\n/).filter((part) => !/^HTTP\/[\d.]+ 1\d\d/.test(part));
  const error = /^curl: .*/m.exec(stderr)?.[0] ?? '';
  return {
    status: Number(/^HTTP\/[\d.]+ (\d+)/.exec(head)?.[1] ?? 0),
    retryAfter: /^retry-after: (.*)$/im.exec(head)?.[1]?.trim() ?? null,
    text: rest.join('\r\n\r\n'),
    error: error === '' ? null : error,
  };
}

/** What these clients report for the jobs, which may differ by client. */
export async function ask(
  clients: readonly Client[],
  jobsFor: (client: Client) => readonly ClientJob[],
  { ca, caFile }: { ca: string; caFile: string },
): Promise<Map<Client, Seen[]>> {
  const programs: Record<Exclude<Client, 'curl'>, [string, ...string[]]> = {
    node: [process.execPath, join(FOLDER, 'node-client.mjs')],
    python: ['python3', join(FOLDER, 'python_client.py')],
    go: ['go', 'run', join(FOLDER, 'go_client.go')],
  };
  const seen = clients.map(async (client): Promise<[Client, Seen[]]> => {
    const jobs = jobsFor(client);
    if (client === 'curl') return [client, await Promise.all(jobs.map((job) => curl(job, caFile)))];
    const [program, ...args] = programs[client];
    return [client, await feed(program, args, { jobs, ca })];
  });
  return new Map(await Promise.all(seen));
}

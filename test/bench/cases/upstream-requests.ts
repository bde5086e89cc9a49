import { type ChildProcess, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  cpuSeconds,
  createOpenProject,
  end,
  type Figure,
  freePort,
  median,
  microseconds,
  portOf,
  ROUNDS,
  rangeOf,
  runWrk,
  startNode,
  startProgram,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';

const PEERS = join(import.meta.dirname, '..', 'peers');
const BODY = JSON.stringify({ id: 1, name: 'Rex', categoryId: 7, status: 'available' });

/** The headers that Node's `fetch` sends by default, and an API key. */
const FETCH_FIELDS = {
  Accept: '*/*',
  'Accept-Language': '*',
  'Accept-Encoding': 'gzip, deflate',
  'Sec-Fetch-Mode': 'cors',
  'User-Agent': 'node',
  Authorization: `Bearer viv_${'0'.repeat(32)}`,
};

interface Side {
  name: string;
  child: ChildProcess;
  port: number;
}

/** A project whose target is `url`. */
export async function leadTo(vivarium: Vivarium, url: string): Promise<string> {
  const { projectId, host } = await createOpenProject(vivarium, 'Upstream');
  await vivarium.call('projects.update', { projectId, target: { kind: 'upstream', url } });
  return `${host}:${vivarium.runtime.http.port}`;
}

/** A server that answers every request with the same small JSON. */
export async function startJsonUpstream(): Promise<{ child: ChildProcess; ready: number }> {
  const sampleFile = join(temporaryFolder(), 'sample.json');
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(BODY.length) };
  writeFileSync(sampleFile, JSON.stringify({ headers, body: BODY }));
  return await startNode([join(PEERS, 'bare-http.ts'), sampleFile], portOf);
}

/** Restarts of both: the JIT compiler optimises differently in each process, which changes the speed by a fifth. */
const LIVES = 3;

/** Small JSON from an upstream, compared with the minimum that Node can do and with the installed proxies. */
export async function upstreamRequests(): Promise<Figure[]> {
  const upstream = await startJsonUpstream();
  const url = `http://127.0.0.1:${upstream.ready}`;
  const lives: Life[] = [];
  for (let life = 0; life < LIVES; life++) lives.push(await live(url));
  const others = await startOthers(upstream.ready);
  for (const side of others) load(side, 'localhost');
  const loads = takeTurns(others, 'localhost');
  for (const { child } of [...others, upstream]) await end(child);

  const ratios = (turns: number[][]): number[] => turns.map(([ours = Number.NaN, least = 1]) => ours / least);
  const ratio = (turns: number[][]): number => median(ratios(turns));
  const recorded = median(lives.map((life) => ratio(life.recorded)));
  const unrecorded = median(lives.map((life) => ratio(life.unrecorded)));
  const turns = lives.flatMap((life) => life.recorded);
  const speeds = [
    ['Vivarium', median(turns.map(([ours = Number.NaN]) => ours))] as const,
    ['node:http', median(turns.map(([, least = Number.NaN]) => least))] as const,
    ...others.map(({ name }, index) => [name, median(loads.map((round) => round[index] ?? Number.NaN))] as const),
  ];
  const detail = `processor time of a request: ${speeds.map(([name, speed]) => `${name} ${microseconds(1 / speed)}`).join(', ')}; ${rangeOf(ratios(turns))}`;
  const caddy = speeds.find(([name]) => name === 'caddy')?.[1];
  const figures = [
    {
      what: 'small JSON through to an upstream against a bare node:http pass-through, by processor time',
      measured: `${recorded.toFixed(2)} × recorded, ${unrecorded.toFixed(2)} × not`,
      wanted: '≥ 1.3 × recorded',
      met: recorded >= 1.3,
      detail,
    },
  ];
  if (caddy === undefined) return figures;
  const againstCaddy = (speeds[0]?.[1] ?? Number.NaN) / caddy;
  return [
    ...figures,
    {
      what: 'the same, recorded, against Caddy',
      measured: `${againstCaddy.toFixed(2)} ×`,
      wanted: '≥ 1.2 ×',
      met: againstCaddy >= 1.2,
      detail,
    },
  ];
}

/** For every round, the requests of both sides for each second of processor time: ours, and the minimum. */
interface Life {
  recorded: number[][];
  unrecorded: number[][];
}

async function live(url: string): Promise<Life> {
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const host = await leadTo(vivarium, url);
  const bare = await startNode([join(PEERS, 'pass-through.ts'), url], portOf);
  const ours: Side = { name: 'Vivarium', child: vivarium.child, port: vivarium.runtime.http.port };
  const least: Side = { name: 'node:http', child: bare.child, port: bare.ready };
  const sides = [ours, least];
  for (const side of sides) load(side, host);
  const recorded = takeTurns(sides, host);
  await vivarium.call('settings.update', { traffic: { record: false, bodies: false } });
  const unrecorded = takeTurns(sides, host);
  for (const { child } of sides) await end(child);
  return { recorded, unrecorded };
}

/** For every round, the requests that each side served for each second of its own processor time. */
function takeTurns(sides: readonly Side[], host: string): number[][] {
  return Array.from({ length: ROUNDS }, () => sides.map((side) => load(side, host)));
}

function load({ name, child, port }: Side, host: string): number {
  const before = cpuSeconds(child);
  const { requests, failures } = runWrk({
    url: `http://127.0.0.1:${port}/pet`,
    headers: { Host: host, ...FETCH_FIELDS },
  });
  if (failures > 0) throw new Error(`${failures} requests failed through ${name}; the figure would mean nothing.`);
  return requests / (cpuSeconds(child) - before);
}

export const isInstalled = (command: string): boolean => spawnSync('which', [command]).status === 0;

/** The installed ones among the common reverse proxies, each limited to one thread. */
async function startOthers(upstreamPort: number): Promise<Side[]> {
  const folder = temporaryFolder();
  const upstream = `127.0.0.1:${upstreamPort}`;
  const sides: Side[] = [];
  const start = async (name: string, args: (port: number) => { config: string; args: string[] }, env = {}) => {
    if (!isInstalled(name)) return;
    const port = await freePort();
    const made = args(port);
    writeFileSync(join(folder, name), made.config);
    sides.push({ name, port, child: await startProgram(name, made.args, port, env) });
  };
  await start('nginx', (port) => ({
    config: `daemon off; master_process off; pid ${folder}/nginx.pid; error_log /dev/null; events {}
      http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
        uwsgi_temp_path ${folder}; scgi_temp_path ${folder}; keepalive_requests 1000000000;
        upstream up { server ${upstream}; keepalive 64; keepalive_requests 1000000000; }
        server { listen 127.0.0.1:${port}; location / { proxy_pass http://up; proxy_http_version 1.1;
          proxy_set_header Connection ""; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
          proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Proto $scheme; } } }`,
    args: ['-p', folder, '-c', join(folder, 'nginx')],
  }));
  await start('haproxy', (port) => ({
    config: `global\n  nbthread 1\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s
      option forwardfor\nfrontend f\n  bind 127.0.0.1:${port}\n  default_backend b
backend b\n  http-reuse always\n  server s ${upstream}\n`,
    args: ['-db', '-q', '-f', join(folder, 'haproxy')],
  }));
  await start(
    'caddy',
    (port) => ({
      config: `{\n  admin off\n  auto_https off\n}\nhttp://:${port} {\n  bind 127.0.0.1\n  reverse_proxy ${upstream}\n}\n`,
      args: ['run', '--adapter', 'caddyfile', '--config', join(folder, 'caddy')],
    }),
    { GOMAXPROCS: '1', HOME: folder },
  );
  return sides;
}

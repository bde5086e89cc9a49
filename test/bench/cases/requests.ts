import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import {
  cpuSeconds,
  createOpenProject,
  end,
  type Figure,
  type Load,
  median,
  microseconds,
  portOf,
  residentMb,
  ROUND_SECONDS,
  ROUNDS,
  runWrk,
  type Sample,
  sample,
  startNode,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';
import { type Side, startBareServers, startForwarder, startProxies } from '../web-peers.ts';

const PEERS = join(import.meta.dirname, '..', 'peers');
/** Only the kinds whose name contains this, such as `one pet` or `HTTP/2`. */
const ONLY = process.env.REQUESTS_KIND ?? '';
const CONNECTIONS = 32;
/** Connections for the largest bodies: each is complete within a round. */
const FEW_CONNECTIONS = 4;
const MESSAGE_BYTES = 1_000;
/** If the two halves of a run differ by more, the machine has changed meanwhile, and a ratio would mean nothing. */
const HALVES_MAX = 1.2;
/** V8 returns memory to the system after 100 s without a garbage collection. */
const REST_MS = 120_000;
const MEMORY_MB_MAX = { loaded: 155, rested: 125 };

/** On a busy machine, h2load sometimes never ends. */
const TRIES = 3;
const HANGS_MS = (ROUND_SECONDS + 10) * 1_000;

/** What the client of a round saw; no requests if it hung. */
interface Seen {
  requests: number;
  failures: number;
}

interface Kind {
  what: string;
  /** Vivarium, then those it is compared with. */
  sides: readonly Side[];
  load: (side: Side, round: number) => Seen | Promise<Seen>;
  /** The least ratio to a peer, by its name. */
  wanted?: Record<string, number>;
}

type Project = Awaited<ReturnType<typeof createOpenProject>>;

/** Requests with the key of a project, for the plain listener. */
const headersOf = ({ host, secret }: Project, port: number) => ({
  Host: `${host}:${port}`,
  Authorization: `Bearer ${secret}`,
});

/** The targets of the built-in API; the last two have the page of a list in their own right at the bare servers. */
const TARGETS = {
  list: '/v1/pets?limit=20',
  pet: '/v1/pets/7',
  missing: '/v1/nothing',
  keyless: '/v1/pets?limit=20&of=401',
  limited: '/v1/pets?limit=20&of=429',
};

/** A question for A of `x.vivarium.localhost`, in base64url (RFC 8484 §4.1). */
const DOH = `/dns-query?dns=${Buffer.from('\0\0\x01\0\0\x01\0\0\0\0\0\0\x01x\x08vivarium\x09localhost\0\0\x01\0\x01', 'latin1').toString('base64url')}`;

/**
 * Processor time per request of each kind, each in turn within every round, of one Vivarium that records everything,
 * and of its peers under the same load; then the memory that it has left.
 */
export async function requests(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const kinds = (await prepareKinds(vivarium)).filter(({ what }) => what.includes(ONLY));
  const costs = kinds.map(({ sides }) => sides.map((): number[] => []));
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, kind] of kinds.entries()) {
      for (const [at, side] of kind.sides.entries()) {
        const cost = await costOf(kind, side, round);
        if (round > 0) costs[index]?.[at]?.push(cost);
      }
    }
  }
  const memory = ONLY === '' ? await memoryFigures(vivarium) : [];
  for (const { child } of new Set(kinds.flatMap(({ sides }) => sides))) await end(child);
  return [...kinds.map((kind, index) => figureOf(kind, costs[index] ?? [])), ...memory];
}

/** What the load of all kinds has left. */
async function memoryFigures({ child }: Vivarium): Promise<Figure[]> {
  const loadedMb = residentMb(child);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  return [
    memoryFigure('right after the load of all kinds', loadedMb, MEMORY_MB_MAX.loaded),
    memoryFigure('after two minutes of rest', residentMb(child), MEMORY_MB_MAX.rested),
  ];
}

async function costOf({ what, load }: Kind, side: Side, round: number): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const before = cpuSeconds(side.child);
    const { requests, failures } = await load(side, round);
    if (failures > 0) throw new Error(`${failures} requests failed at ${side.name} (${what}).`);
    if (requests > 0) return (cpuSeconds(side.child) - before) / requests;
  }
  throw new Error(`The client of ${side.name} (${what}) made no requests.`);
}

/** The ratios to the peers, unless the halves of the run contradict each other. */
function figureOf({ what, sides, wanted = {} }: Kind, costs: readonly number[][]): Figure {
  const [ours = [], ...others] = costs;
  const compared = others.map((theirs, index) => {
    const ratios = ours.map((cost, round) => (theirs[round] ?? Number.NaN) / cost);
    const half = Math.ceil(ratios.length / 2);
    const halves = [median(ratios.slice(0, half)), median(ratios.slice(half))];
    const isSteady = Math.max(...halves) / Math.min(...halves) <= HALVES_MAX;
    return { name: sides[index + 1]?.name ?? '', ratio: isSteady ? median(ratios) : null, halves };
  });
  const shown = compared.map(({ name, ratio, halves }) =>
    ratio === null
      ? `no ratio to ${name} (${halves.map((each) => each.toFixed(2)).join(' and ')} in the halves of the run)`
      : `${ratio.toFixed(2)} × ${name}`,
  );
  const goals = Object.entries(wanted);
  const isMet = (name: string, least: number): boolean =>
    (compared.find((each) => each.name === name)?.ratio ?? 0) >= least;
  const isCompared = goals.some(([name]) => compared.some((each) => each.name === name));
  return {
    what: `${what}, by processor time`,
    measured: shown.join(', '),
    wanted: goals.length === 0 ? 'no goal' : goals.map(([name, least]) => `≥ ${least} × ${name}`).join(', '),
    met: isCompared ? goals.every(([name, least]) => isMet(name, least)) : null,
    detail: sides.map(({ name }, index) => `${name} ${microseconds(median(costs[index] ?? []))}`).join(', '),
  };
}

const memoryFigure = (when: string, mb: number, mbMax: number): Figure => ({
  what: `resident memory ${when}`,
  measured: `${Math.round(mb)} MB`,
  wanted: `≤ ${mbMax} MB`,
  met: mb <= mbMax,
  detail: 'of the same process',
});

async function prepareKinds(vivarium: Vivarium): Promise<Kind[]> {
  const { http, https } = vivarium.runtime;
  const ours: Side = { name: 'Vivarium', child: vivarium.child, http: http.port, https: https.port };
  const open = await createOpenProject(vivarium, 'Open');
  await vivarium.call('pets.seed', { projectId: open.projectId, count: 1_000 });
  const forwarded = await createOpenProject(vivarium, 'Upstream');
  return [...(await apiKinds(vivarium, ours, open)), ...(await upstreamKinds(vivarium, ours, forwarded))];
}

async function apiKinds(vivarium: Vivarium, ours: Side, open: Project): Promise<Kind[]> {
  const limited = await createLimited(vivarium);
  const inserting: Project[] = [];
  // A dataset has a bound, so each round has a project of its own.
  for (let round = 0; round <= ROUNDS; round++) inserting.push(await createOpenProject(vivarium, `Insert ${round}`));
  const headers = headersOf(open, ours.http);
  const refused = headersOf(limited, ours.http);
  const { Host } = headers;
  const answer = async (target: string, fields: Record<string, string>): Promise<Sample> =>
    await sample(`http://127.0.0.1:${ours.http}${target}`, fields);
  const answers: Record<string, Sample> = {
    [TARGETS.list]: await answer(TARGETS.list, headers),
    [TARGETS.pet]: await answer(TARGETS.pet, headers),
    [TARGETS.missing]: await answer(TARGETS.missing, headers),
    [TARGETS.keyless]: await answer(TARGETS.keyless, { Host }),
    [DOH]: await sample(`https://localhost:${ours.https}${DOH}`, {}),
  };
  await answer(TARGETS.limited, refused);
  answers[TARGETS.limited] = await answer(TARGETS.limited, refused);
  expectStatuses(answers);
  const [bare, bare2] = (await startBareServers(answers, open.host)) as [Side, Side];
  const inserts = await startNode([join(PEERS, 'bare-insert.ts'), join(temporaryFolder(), 'bare.db')], portOf);
  const store: Side = { name: 'better-sqlite3', child: inserts.child, http: inserts.ready, https: Number.NaN };
  const keyless = scriptOf(addresses());
  const post = scriptOf(`wrk.method = "POST"
    wrk.body = '{"name":"Rex the Beagle","categoryId":1}'
    wrk.headers["Content-Type"] = "application/json"`);
  const plain = { sides: [ours, bare] };
  const secure = { sides: [ours, bare2] };
  return [
    { ...plain, what: 'list of 20 pets', load: http1(TARGETS.list, { headers }), wanted: { 'node:http': 0.7 } },
    { ...plain, what: 'one pet', load: http1(TARGETS.pet, { headers }), wanted: { 'node:http': 0.6 } },
    {
      ...plain,
      what: '401',
      load: counted(vivarium, open, refusals(TARGETS.keyless, { headers: { Host }, ...keyless })),
    },
    { ...plain, what: '429', load: refusals(TARGETS.limited, { headers: refused }) },
    { ...plain, what: '404', load: refusals(TARGETS.missing, { headers }) },
    {
      what: 'a new pet, durable (WAL, synchronous FULL)',
      sides: [ours, store],
      load: (side, round) =>
        http1('/v1/pets', { headers: headersOf(inserting[round] ?? open, ours.http), ...post })(side),
      wanted: { 'better-sqlite3': 0.5 },
    },
    {
      ...secure,
      what: 'list of 20 pets over HTTP/2 on one connection',
      load: http2(open.host, TARGETS.list, { connections: 1, headers: { Authorization: headers.Authorization } }),
      wanted: { 'node:http2': 0.8 },
    },
    {
      ...secure,
      what: 'list of 20 pets over HTTP/2 on many connections',
      load: http2(open.host, TARGETS.list, { headers: { Authorization: headers.Authorization } }),
      wanted: { 'node:http2': 0.8 },
    },
    { ...secure, what: 'DNS over HTTPS', load: http2('localhost', DOH) },
  ];
}

async function upstreamKinds(vivarium: Vivarium, ours: Side, project: Project): Promise<Kind[]> {
  const upstream = await startNode([join(PEERS, 'upstream.ts')], portOf);
  const url = `http://127.0.0.1:${upstream.ready}`;
  await vivarium.call('projects.update', { projectId: project.projectId, target: { kind: 'upstream', url } });
  const bare = await startForwarder('node:http', 'pass-through.ts', url);
  const httpProxy = await startForwarder('http-proxy', 'http-proxy.ts', url);
  const proxies = await startProxies(project.host, upstream.ready);
  const sides = [ours, bare, httpProxy, ...proxies];
  const headers = headersOf(project, ours.http);
  const down = (size: string, bytes: number, wanted?: Kind['wanted']): Kind => ({
    what: `recorded pass-through, ${size} down`,
    sides,
    load: http1(`/${bytes}`, { headers, connections: connectionsFor(bytes) }),
    ...(wanted !== undefined && { wanted }),
  });
  const up = (size: string, bytes: number): Kind => ({
    what: `recorded pass-through, ${size} up`,
    sides,
    load: http1('/20', {
      headers,
      connections: connectionsFor(bytes),
      ...scriptOf(`wrk.method = "POST"\nwrk.body = string.rep("x", ${bytes})`),
    }),
  });
  const over2 = (on: string, connections: number): Kind => ({
    what: `recorded pass-through, 1 kB down over HTTP/2 on ${on}`,
    sides: [ours, ...proxies],
    load: http2(project.host, '/1000', { connections }),
    wanted: { caddy: 1.3 },
  });
  return [
    down('1 kB', 1_000, { 'node:http': 1.85, caddy: 1.3 }),
    down('100 kB', 100_000),
    down('10 MB', 10_000_000),
    up('1 kB', 1_000),
    up('100 kB', 100_000),
    up('10 MB', 10_000_000),
    over2('one connection', 1),
    over2('many connections', CONNECTIONS),
    {
      what: `WebSocket messages of ${MESSAGE_BYTES / 1_000} kB, there and back`,
      sides: [ours, httpProxy, ...proxies],
      load: (side) => echo(side, headers.Host),
    },
  ];
}

const connectionsFor = (bytes: number): number => (bytes > 1_000_000 ? FEW_CONNECTIONS : CONNECTIONS);

/** A project whose one request a day has been made, and whose key is never banned. */
async function createLimited(vivarium: Vivarium): Promise<Project> {
  const project = await createOpenProject(vivarium, 'Limited');
  const { projectId } = project;
  await vivarium.call('projects.update', { projectId, plan: 'enterprise', limits: { perMinute: 1, perDay: 1 } });
  await vivarium.call('settings.update', { banAfter: 1_000_000 });
  return project;
}

function expectStatuses(answers: Record<string, Sample>): void {
  const wanted: Record<string, number> = { [TARGETS.missing]: 404, [TARGETS.keyless]: 401, [TARGETS.limited]: 429 };
  for (const [target, { status, body }] of Object.entries(answers))
    if (status !== (wanted[target] ?? 200)) throw new Error(`${target} answered ${status}: ${body}`);
}

function http1(target: string, load: Omit<Load, 'url'>): (side: Side) => Seen {
  return ({ http }) => runWrk({ url: `http://127.0.0.1:${http}${target}`, ...load });
}

/** The same where every answer is to be a refusal. */
function refusals(target: string, load: Omit<Load, 'url'>): (side: Side) => Seen {
  return (side) => {
    const { requests, failures } = http1(target, load)(side);
    return { requests, failures: Math.abs(requests - failures) };
  };
}

/** Each client address has 60 requests a minute without a key, so there are many, which a trusted proxy reports. */
const addresses = (): string => `local n, many = 0, ${512 * ROUND_SECONDS}
  request = function()
    n = (n + 1) % many
    wrk.headers["X-Forwarded-For"] = "10.0." .. math.floor(n / 256) .. "." .. n % 256
    return wrk.format()
  end`;

/** Trusts the client as a proxy meanwhile, with new counts for its addresses. */
function counted(vivarium: Vivarium, { projectId }: Project, load: (side: Side) => Seen): Kind['load'] {
  return async (side) => {
    await vivarium.call('limits.reset', { projectId });
    await vivarium.call('settings.update', { trustedProxies: ['127.0.0.1'] });
    const seen = load(side);
    await vivarium.call('settings.update', { trustedProxies: [] });
    return seen;
  };
}

function scriptOf(text: string): { script: string } {
  const script = join(temporaryFolder(), 'script.lua');
  writeFileSync(script, text);
  return { script };
}

/** As many streams at a time, on one connection or on as many. */
function http2(
  host: string,
  target: string,
  { connections = CONNECTIONS, headers = {} }: { connections?: number; headers?: Record<string, string> } = {},
): (side: Side) => Seen {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name.toLowerCase()}: ${value}`]);
  const args = ['-t1', `-c${connections}`, `-m${CONNECTIONS / connections}`, '-D', String(ROUND_SECONDS), ...fields];
  return ({ https }) => {
    const url = `https://${host}:${https}${target}`;
    const limits = { encoding: 'utf8', timeout: HANGS_MS, killSignal: 'SIGKILL' } as const;
    const done = spawnSync('h2load', [...args, `--connect-to=127.0.0.1:${https}`, url], limits);
    if (done.pid === 0) throw new Error('h2load is missing (apt-get install nghttp2-client).');
    const number = (pattern: RegExp): number => Number(pattern.exec(done.stdout)?.[1] ?? 0);
    const requests = number(/status codes: (\d+) 2xx/);
    return { requests, failures: number(/ (\d+) failed/) + number(/, (\d+) 4xx/) + number(/, (\d+) 5xx/) };
  };
}

/** Messages on eight WebSockets, each sent when the one before it has come back. */
async function echo({ http }: Side, host: string): Promise<Seen> {
  const seen = { requests: 0, failures: 0 };
  const message = Buffer.alloc(MESSAGE_BYTES, 'x');
  const untilMs = performance.now() + ROUND_SECONDS * 1_000;
  const talk = (): Promise<void> =>
    new Promise((resolve) => {
      const options = { headers: { Host: host }, perMessageDeflate: false };
      const socket = new WebSocket(`ws://127.0.0.1:${http}/`, options);
      socket.on('open', () => socket.send(message));
      socket.on('message', () => {
        seen.requests += 1;
        if (performance.now() < untilMs) socket.send(message);
        else socket.close();
      });
      socket.on('error', () => (seen.failures += 1));
      socket.on('close', () => resolve());
    });
  await Promise.all(Array.from({ length: 8 }, talk));
  return seen;
}

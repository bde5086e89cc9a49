import type { EpochMs } from '../../base/clock.ts';
import type { AcmeOrderInfo } from '../../contract/acme.ts';
import type { Ask } from '../../contract/index.ts';
import { DAY_MS, HOUR_MS } from '../../contract/duration.ts';
import { type Attempt, type Course, type Held, revokeAt, eventAt, type Year, type YearEvent } from './course.ts';

export interface RunningClient {
  exited: Promise<number>;
  end(): Promise<void>;
}

export interface Scene {
  call: Ask;
  start(): Promise<RunningClient>;
  /** Real milliseconds. @throws the reason when the user interrupts */
  sleep(ms: number): Promise<void>;
  monotonic(): number;
  /** Tells the user a sentence, while the observation goes on. */
  say(sentence: string): void;
}

export interface Observation {
  names: readonly string[];
  year: Year;
  lifetimeMs: number;
  /** Length of a day on the clock, in real milliseconds. */
  dayMs: number;
  command: string;
  /** Real milliseconds that the client may take for its first certificates, and before a name goes dark. */
  firstMs: number;
  patienceMs: number;
}

/** Polling interval of the orders, in real milliseconds. */
const POLL_MS = 100;
/** Minimum real milliseconds of a clock step, which is at most a day. */
const STEP_REAL_MS = 200;
/** Real milliseconds after which a client without an account is reported. */
const QUIET_MS = 5_000;
/** Orders read per poll; clients cannot create more between two polls. */
const ORDERS_READ = 100;
/** Exit codes of a shell that cannot start a command. */
const NOT_STARTED: ReadonlySet<number> = new Set([126, 127]);

interface Track {
  readonly name: string;
  readonly held: Held[];
  readonly attempts: Attempt[];
  /** Real time until which the clock waits for a renewal before the name goes dark; null if it is not waiting. */
  waitsUntil: number | null;
}

/**
 * Observes a real client for a year: its certificates and failures, by name. The clock moves in steps, each in the real
 * time that the profile assigns to it; it waits for open orders, and before a name would go dark. A command that has
 * ended is run again each day; a running one is restarted after an outage, because its retry delay is in real time.
 * @throws Error with a sentence if the client cannot be started or obtains no certificate at the beginning
 */
export async function observe(options: Observation, scene: Scene): Promise<Course[]> {
  const { names, year, dayMs, command } = options;
  const tracks = names.map((name): Track => ({ name, held: [], attempts: [], waitsUntil: null }));
  const client = createClient(command, scene);
  const orders = createOrders(options, scene, tracks);
  const events = createEvents(names, scene, tracks);
  try {
    for (const zone of new Set(names.map(zoneOf))) await scene.call('zones.create', { name: zone });
    for (const name of names) await events.put(name, 'A', '127.0.0.1');
    await client.start(year.fromMs);
    await firstCertificates(options, scene, { tracks, client, orders });
    const stepMs = Math.min(DAY_MS, Math.max(HOUR_MS, (STEP_REAL_MS / dayMs) * DAY_MS));
    for (let nowMs = year.fromMs; nowMs < year.toMs;) {
      const moments = [
        ...year.events.flatMap((event) => [event.fromMs, event.toMs]),
        ...tracks.map(({ held }) => held.at(-1)?.untilMs ?? 0),
      ].filter((each) => each > nowMs);
      const nextMs = Math.min(nowMs + stepMs, year.toMs, ...moments);
      await scene.sleep(((nextMs - nowMs) / DAY_MS) * dayMs);
      for (await orders.poll(); orders.isAwaited(nextMs); await orders.poll()) await scene.sleep(POLL_MS);
      // After a renewal, the earliest expiry is later.
      await scene.call('clock.set', { to: new Date(nextMs).toISOString() });
      for (const track of tracks) noteOutage(track, nextMs, year);
      const ending = year.events.filter(({ fromMs, toMs }) => toMs === nextMs && toMs > fromMs);
      for (const event of ending) await events.finish(event);
      for (const event of year.events) if (event.fromMs === nextMs && nextMs < year.toMs) await events.begin(event);
      nowMs = nextMs;
      if (nowMs < year.toMs) await client.keepRunning(nowMs, ending.length > 0);
    }
  } finally {
    await client.end();
  }
  const about = `ran as a command; a day took ${dayMs.toLocaleString('en')} ms of real time`;
  return tracks.map(({ name, held, attempts }) => ({ client: command, about, names: [name], held, attempts }));
}

/** Waits until the client has a certificate for every name. @throws Error with a sentence if it obtains none */
async function firstCertificates(
  { command, firstMs }: Observation,
  scene: Scene,
  by: { tracks: readonly Track[]; client: ReturnType<typeof createClient>; orders: ReturnType<typeof createOrders> },
): Promise<void> {
  const { tracks, client, orders } = by;
  let quietUntil = scene.monotonic() + QUIET_MS;
  const until = scene.monotonic() + firstMs;
  for (await orders.poll(); tracks.some(({ held }) => held.length === 0); await orders.poll()) {
    if (client.exitCode() !== null && (client.exitCode() !== 0 || orders.ended() === 0)) break;
    if (scene.monotonic() >= until) break;
    if (scene.monotonic() >= quietUntil) {
      quietUntil = Infinity;
      if ((await scene.call('acme.accounts')).length === 0) scene.say(quiet(command, firstMs));
    }
    await scene.sleep(POLL_MS);
  }
  const without = tracks.filter(({ held }) => held.length === 0).map(({ name }) => name);
  if (without.length > 0) {
    const ended = client.exitCode() === null ? '' : ` It ended with ${client.exitCode()}.`;
    throw new Error(
      `The client obtained no certificate for ${without.join(', ')}.${ended} ${orders.lastProblem()}`.trim(),
    );
  }
}

/** The command under observation. */
function createClient(command: string, scene: Scene) {
  let client: RunningClient | null = null;
  /** Of the last run, when it has ended. */
  let exitCode: number | null = null;
  let startedMs: EpochMs = 0;

  async function start(nowMs: EpochMs): Promise<void> {
    const started = await scene.start();
    client = started;
    exitCode = null;
    startedMs = nowMs;
    void started.exited.then((code) => {
      if (client === started) exitCode = code;
    });
  }

  return {
    start,
    /** Null while it runs. */
    exitCode: (): number | null => exitCode,
    /** Restarts it, or starts it again after it has ended. */
    async keepRunning(nowMs: EpochMs, mustRestart: boolean): Promise<void> {
      if (exitCode !== null && NOT_STARTED.has(exitCode)) {
        throw new Error(`The client could not be started: ${command} ended with ${exitCode}.`);
      }
      if (exitCode === null ? !mustRestart : nowMs - startedMs < DAY_MS) return;
      await client?.end();
      await start(nowMs);
    },
    end: async (): Promise<void> => client?.end(),
  };
}

function createOrders({ year, lifetimeMs, patienceMs }: Observation, scene: Scene, tracks: readonly Track[]) {
  const seen = new Set<string>();
  /** Open orders, and when they were first seen. */
  const open = new Map<string, number>();
  let lastProblem = '';

  /** Notes the orders that have ended. */
  async function poll(): Promise<void> {
    const orders = await scene.call('acme.orders', { limit: ORDERS_READ });
    open.forEach((_since, id) => orders.some((each) => each.id === id) || open.delete(id));
    for (const order of orders.toReversed()) {
      if (seen.has(order.id)) continue;
      if (order.status !== 'valid' && order.status !== 'invalid') {
        if (!open.has(order.id)) open.set(order.id, scene.monotonic());
        continue;
      }
      seen.add(order.id);
      open.delete(order.id);
      for (const track of tracks) if (order.names.includes(track.name)) note(track, order);
    }
  }

  function note(track: Track, { status, createdAt, problem = '' }: AcmeOrderInfo): void {
    const atMs = Date.parse(createdAt);
    if (status === 'valid') {
      if (track.held.length > 0) track.attempts.push({ atMs, failure: null, problem: null });
      track.held.push({ fromMs: atMs, untilMs: atMs + lifetimeMs, revokedAtMs: null });
      track.waitsUntil = null;
      return;
    }
    lastProblem = problem;
    const kinds = (['outage', 'caa', 'authorization'] as const).filter((kind) =>
      eventAt(year, kind, atMs, [track.name]),
    );
    track.attempts.push({ atMs, failure: kinds[0] ?? 'other', problem });
    track.waitsUntil = -Infinity;
  }

  /** Whether the clock must wait before it moves to `nextMs`. */
  function isAwaited(nextMs: EpochMs): boolean {
    const now = scene.monotonic();
    if ([...open.values()].some((since) => now - since < patienceMs)) return true;
    return tracks.some((track) => {
      const last = track.held.at(-1);
      if (last === undefined || last.revokedAtMs !== null || last.untilMs > nextMs) return false;
      track.waitsUntil ??= now + patienceMs;
      return now < track.waitsUntil;
    });
  }

  return { poll, isAwaited, ended: () => seen.size, lastProblem: () => lastProblem };
}

/** The events of a year, as they happen to the engine. */
function createEvents(names: readonly string[], scene: Scene, tracks: readonly Track[]) {
  /** The ids of records that were put, by name and type. */
  const records = new Map<string, string>();

  async function begin({ kind, fromMs, name }: YearEvent): Promise<void> {
    const affected = names.filter((each) => name === undefined || each === name);
    if (kind === 'revocation') {
      await scene.call('acme.revokeAll', {});
      for (const { held } of tracks) revokeAt(held, fromMs);
    }
    if (kind === 'outage') {
      await scene.call('breaks.start', { entry: 'ca.part-unavailable', parameters: { part: 'all' }, for: 'P7D' });
      for (const track of tracks) track.waitsUntil = -Infinity;
    }
    if (kind === 'caa') for (const each of affected) await put(each, 'CAA', '0 issue "ca.example"');
    if (kind === 'authorization') {
      for (const each of affected) {
        await scene.call('acme.loseAuthorizations', { name: each });
        await remove(each, 'A');
      }
    }
  }

  async function finish({ kind, name }: YearEvent): Promise<void> {
    for (const track of tracks) track.waitsUntil = null;
    const affected = names.filter((each) => name === undefined || each === name);
    if (kind === 'outage') await scene.call('breaks.stopAll', {});
    if (kind === 'caa') for (const each of affected) await remove(each, 'CAA');
    if (kind === 'authorization') for (const each of affected) await put(each, 'A', '127.0.0.1');
  }

  /** Puts a record into the zone of the name, which has no other records. */
  async function put(name: string, type: 'A' | 'CAA', value: string): Promise<void> {
    const zone = zoneOf(name);
    const { id } = await scene.call('records.put', { zone, name: name === zone ? '@' : '*', type, value });
    records.set(`${name} ${type}`, id);
  }

  async function remove(name: string, type: 'A' | 'CAA'): Promise<void> {
    await scene.call('records.remove', { id: records.get(`${name} ${type}`) ?? '' });
  }

  return { put, begin, finish };
}

const quiet = (command: string, firstMs: number): string =>
  `Nothing has opened an account at the ACME directory yet. Does ${JSON.stringify(command)} find its configuration in ` +
  `this folder, and does that read VIVARIUM_ACME_DIRECTORY? Waiting ${firstMs / 1_000} s for it; Ctrl-C ends.`;

const zoneOf = (name: string): string => name.replace(/^\*\./, '');

/** Records a failure when a certificate expires during an outage: the CA has no order, because it does not answer. */
function noteOutage({ name, held, attempts }: Track, atMs: EpochMs, year: Year): void {
  if (held.at(-1)?.untilMs !== atMs || eventAt(year, 'outage', atMs - 1, [name]) === undefined) return;
  attempts.push({ atMs, failure: 'outage', problem: null });
}

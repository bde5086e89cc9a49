import { iso } from '../contract/values.ts';
import type { AdjustableClock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createId } from '../base/secret.ts';
import { createTurns, type Turns } from '../base/turns.ts';
import { BREAKS_MAX, type BreakEntry, type BreakPoint, type RunningBreak } from '../contract/breaks.ts';
import { conflict, notFound } from '../contract/errors.ts';
import { mention } from '../contract/calls.ts';
import { type BreakRow, type Fault, type FaultSource, type KeptUndo, NO_FAULTS } from '../model/fault.ts';
import { pointOf } from './catalogue/index.ts';
import { type Asked, type Breakable, checkRule, isOfDomain } from './check.ts';
import { decide, indexRules, isDone, ownerOf, projectOf } from './rule-index.ts';
import { ofDrill, type StateBreak, type StateBreaks } from './state-break.ts';

export interface BreakStorage {
  list(): BreakRow[];
  insert(row: BreakRow): void;
  reschedule(row: Pick<BreakRow, 'id' | 'untilMs'>): void;
  count(rows: readonly Pick<BreakRow, 'id' | 'seen' | 'struck'>[]): void;
  remove(id: string): void;
}

/** A hidden break is not listed or named; `stopHidden` ends it. */
export interface StartInput extends Asked {
  entry: string;
  forMs: number;
}

interface Running extends BreakRow {
  kind: BreakEntry;
  order: number;
  identity: string;
}

/** Delay before a failed repair is tried again. */
const AGAIN_MS = 60_000;

/** The stored end of a break whose repair has begun: in the past at any clock setting. */
const OVER_MS = 0;

export interface BreakOptions {
  clock: Pick<AdjustableClock, 'now' | 'at' | 'onAdjusted'>;
  log: Log;
  storage: BreakStorage;
  breakable: Breakable;
  states: StateBreaks;
  onChanged: () => void;
  /** Called after a break has started, and awaited. Never rejects. */
  onStarted?: (started: RunningBreak) => Promise<void>;
  /** Called after breaks are repaired, and awaited. Never rejects. */
  onRepaired?: (repaired: readonly RunningBreak[]) => Promise<void>;
}

export type Breaks = ReturnType<typeof createBreaks>;

/** The running breaks. Starts and stops run one at a time. Hidden breaks are part of a drill, and never listed. */
export function createBreaks(options: BreakOptions) {
  const { clock, log, storage, states, breakable, onStarted = () => Promise.resolve() } = options;
  /** By id, in start order. */
  const running = new Map<string, Running>();
  const { enqueue } = createTurns(1);
  const present = presentedWith(breakable);
  const { faults, refresh } = createFaults(running, options);
  const endings = createEndings(running, options, { changed, enqueue });
  let order = 0;

  function changed(): void {
    refresh();
    endings.arm();
    options.onChanged();
  }

  async function start({ entry: id, forMs, ...asked }: StartInput): Promise<RunningBreak> {
    const { entry, rule } = checkRule({ entry: id, ...asked }, breakable);
    refuseStart({ entry: entry.id, rule }, [...running.values()]);
    const undo = pointOf(entry) === 'state' ? await stateOf({ entry: entry.id }, states).prepare(rule) : null;
    if (undo !== null) refuseOverlap(undo, running.values());
    const startedAtMs = clock.now();
    const row: BreakRow = {
      ...{ id: createId('brk'), entry: entry.id, rule, undo, seen: 0, struck: 0 },
      ...{ startedAtMs, forMs, untilMs: startedAtMs + forMs },
    };
    storage.insert(row);
    const begun = enlist(row, entry);
    if (undo !== null) {
      try {
        await stateOf(row, states).apply(undo, rule);
      } catch (error) {
        await endings.end(begun);
        throw error;
      }
    }
    changed();
    await onStarted(present(begun));
    return present(begun);
  }

  function enlist(row: BreakRow, kind: BreakEntry): Running {
    const enlisted = { ...row, kind, order: (order += 1), identity: identityOf(row) };
    running.set(row.id, enlisted);
    return enlisted;
  }

  const shown = (): Running[] => [...running.values()].filter((each) => !isHidden(each));

  /** Reads the stored breaks; those of an entry that this version lacks are dropped. */
  function readStored(): void {
    for (const row of storage.list()) {
      const kind = breakable.catalogue.find(({ id }) => id === row.entry);
      if (kind !== undefined) {
        enlist(row, kind);
        continue;
      }
      log.warn('Dropped a break of an unknown entry', { id: row.id, entry: row.entry });
      storage.remove(row.id);
    }
  }

  return {
    /** The source that other components read; always the same object. */
    faults,
    list: () => shown().map(present),
    /** The running entries that have edited state. */
    edited: () => shown().flatMap(({ undo, entry }) => (undo === null ? [] : [entry])),
    /** @throws VivariumError `not_found`, `invalid_request`, `conflict`, or the edit's; nothing is broken then. */
    start: (input: StartInput) => enqueue(() => start(input)),
    /** @throws VivariumError `not_found`, or what the repair threw; the break then remains listed. */
    stop: (id: string) =>
      enqueue(async () => {
        const rule = running.get(id);
        if (rule === undefined || isHidden(rule))
          throw notFound(`No break "${id}" is running. To list running ones: \`breaks.list\`.`);
        const [ended = present(rule)] = await endings.endEach([rule]);
        return ended;
      }),
    /** Stops all, undoes edits in reverse order, and returns the stopped breaks. @throws as `stop`. */
    stopAll: () => enqueue(() => endings.endEach(shown())),
    /**
     * Ends the breaks that select one of these hostnames, which are no longer attached, or the removed project. A failed
     * repair is repeated.
     */
    endOf: (hostnames: readonly string[], projectId?: string) =>
      enqueue(async () => {
        const over = shown().filter((each) => isOver(each, hostnames, projectId));
        return over.length === 0 ? [] : endings.endOver(over);
      }),
    /** Stops only the hidden breaks. @throws as `stop`. */
    stopHidden: () => enqueue(async () => void (await endings.endEach([...running.values()].filter(isHidden)))),
    /** Resumes stored breaks and repairs expired ones. Call once, before requests are served. */
    resume: () =>
      enqueue(async () => {
        readStored();
        const nowMs = clock.now();
        const current = [...running.values()].filter(({ untilMs }) => untilMs > nowMs);
        await endings.endDue();
        for (const rule of current) {
          if (rule.undo === null) continue;
          try {
            await stateOf(rule, states).apply(rule.undo, rule.rule);
          } catch (error) {
            log.error('Could not resume a break', { error, id: rule.id, entry: rule.entry });
          }
        }
      }),
    /** Stops the timer; running breaks resume at the next start. */
    close: endings.close,
  };
}

/** Whether what a break selects is no longer there: one of these hostnames, or the project. */
function isOver({ kind, rule: { on } }: Running, hostnames: readonly string[], projectId?: string): boolean {
  if (on.projectId !== undefined) return on.projectId === projectId;
  return hostnames.includes(on.hostname ?? '') && isOfDomain(kind);
}

/** The source of faults: which rule hits a request, a question, a handshake or a step of the CA. */
function createFaults(
  running: ReadonlyMap<string, Running>,
  { log, storage, breakable, onChanged }: Pick<BreakOptions, 'log' | 'storage' | 'breakable' | 'onChanged'>,
) {
  const faults: { -readonly [Member in keyof FaultSource]: FaultSource[Member] } = { ...NO_FAULTS };

  /** Counts the request for every rule that selects it; the oldest rule that hits it applies. */
  function hit(selecting: readonly Running[]): Fault | null {
    if (selecting.length === 0) return null;
    let fault: Fault | null = null;
    for (const rule of selecting) {
      rule.seen += 1;
      const draw: number | null = fault === null ? decide(rule.rule, rule.seen, rule.struck) : null;
      if (draw === null) continue;
      rule.struck += 1;
      if (isDone(rule)) refresh();
      const { parameters, isHidden } = rule.rule;
      fault = { breakId: rule.id, entry: rule.entry, parameters, draw, ...(isHidden && { isHidden }) };
    }
    count(selecting);
    return fault;
  }

  function count(counted: readonly Running[]): void {
    try {
      // Written before the client sees a response, so numbering continues after `kill -9`.
      storage.count(counted);
    } catch (error) {
      log.error('Could not write the counts of breaks', { error });
    }
    onChanged();
  }

  faults.giveBack = ({ breakId }) => {
    const rule = running.get(breakId);
    if (rule === undefined) return;
    const wasDone = isDone(rule);
    rule.struck -= 1;
    if (wasDone) refresh();
    count([rule]);
  };

  /** Call after breaks have started or ended. */
  function refresh(): void {
    const striking = [...running.values()].filter((rule) => !isDone(rule));
    const points = new Set(striking.map(({ kind }) => pointOf(kind)));
    const has = (...wanted: readonly BreakPoint[]): boolean => wanted.some((point) => points.has(point));
    // Built on first use, so a thousand starts do not build a thousand indexes.
    let built: ReturnType<typeof indexRules<Running>> | null = null;
    const index = () => (built ??= indexRules(striking, breakable.served));
    faults.request = has('connection', 'request') ? (facts) => hit(index().ofRequest(facts)) : null;
    faults.delay = has('delay') ? (facts) => hit(index().ofDelay(facts)) : null;
    faults.question = has('question') ? (facts) => hit(index().ofQuestion(facts)) : null;
    faults.handshake = has('connection', 'handshake') ? (hostname) => hit(index().ofHandshake(hostname)) : null;
    faults.named = has('issuance', 'probe') ? (entry, hostnames) => hit(index().ofEntry(entry, hostnames)) : null;
  }

  return { faults: faults as FaultSource, refresh };
}

/** The ends of breaks: on request, and by the app's clock. */
function createEndings(
  running: Map<string, Running>,
  { clock, log, storage, states, breakable, onRepaired = () => Promise.resolve() }: BreakOptions,
  { changed, enqueue }: { changed: () => void; enqueue: Turns['enqueue'] },
) {
  const present = presentedWith(breakable);
  let timer: Timer | null = null;

  /** Undoes the edit of a break, and forgets it. @throws what the repair throws; the break then keeps running. */
  async function end(rule: Running): Promise<RunningBreak> {
    const changedMeanwhile: string[] = [];
    if (rule.undo !== null) {
      // Stored before the repair: an engine that ends during the repair finishes it at its next start.
      storage.reschedule({ id: rule.id, untilMs: OVER_MS });
      await stateOf(rule, states).undo(rule.undo, rule.rule, (what) => changedMeanwhile.push(what));
    }
    storage.remove(rule.id);
    running.delete(rule.id);
    return { ...present(rule), ...(changedMeanwhile.length > 0 && { left: changedMeanwhile }) };
  }

  async function endEach(rules: readonly Running[]): Promise<RunningBreak[]> {
    const ended: RunningBreak[] = [];
    try {
      for (const rule of rules.toReversed()) ended.unshift(await end(rule));
    } finally {
      changed();
      await onRepaired(ended);
    }
    return ended;
  }

  /** Like `endEach`, but repeats a failed repair later. */
  async function endOver(rules: readonly Running[]): Promise<RunningBreak[]> {
    const ended: RunningBreak[] = [];
    for (const rule of rules.toReversed()) {
      try {
        ended.unshift(await end(rule));
      } catch (error) {
        log.error('Could not repair an ended break; Vivarium will try again', { error, id: rule.id });
        reschedule(rule, clock.now() + AGAIN_MS);
      }
    }
    changed();
    if (ended.length > 0) await onRepaired(ended);
    return ended;
  }

  async function endDue(): Promise<void> {
    const nowMs = clock.now();
    await endOver([...running.values()].filter(({ untilMs }) => untilMs <= nowMs));
  }

  function reschedule(rule: Running, untilMs: number): void {
    rule.untilMs = untilMs;
    storage.reschedule(rule);
  }

  const stopListening = clock.onAdjusted(({ backward }) => {
    if (!backward) return;
    const nowMs = clock.now();
    // The break still ends after its full length.
    for (const rule of running.values()) if (rule.untilMs > nowMs + rule.forMs) reschedule(rule, nowMs + rule.forMs);
    changed();
  });

  return {
    end,
    endEach,
    endOver,
    endDue,
    arm(): void {
      timer?.cancel();
      timer = null;
      const first = Math.min(...[...running.values()].map(({ untilMs }) => untilMs));
      if (first !== Infinity) timer = clock.at(first, () => enqueue(endDue));
    },
    close(): void {
      timer?.cancel();
      stopListening();
    },
  };
}

function stateOf({ entry }: Pick<BreakRow, 'entry'>, states: StateBreaks): StateBreak {
  const state = states.get(entry);
  if (state === undefined) throw new Error(`No implementation makes the edit of ${entry}.`);
  return state;
}

/** @throws VivariumError `conflict` if too many breaks are running, or the same one */
function refuseStart(asked: Pick<BreakRow, 'entry' | 'rule'>, running: readonly Running[]): void {
  if (running.length >= BREAKS_MAX) {
    const fix = 'repair some first: `breaks.stopAll`.';
    throw conflict(`${BREAKS_MAX} breaks are already running; ${fix}`);
  }
  const identity = identityOf(asked);
  const twin = running.find((other) => other.identity === identity && !isHidden(other) && !isDone(other));
  if (twin === undefined) return;
  throw conflict(
    `The same break is already running until ${iso(twin.untilMs)}: ${twin.id}. To restart it, stop it first: ${mention('breaks.stop', { id: twin.id })}.`,
  );
}

/** @throws VivariumError `conflict` if a running break has edited the same */
function refuseOverlap(undo: KeptUndo, running: Iterable<Running>): void {
  const other = [...running].find((each) => each.undo?.edits === undo.edits);
  if (other === undefined) return;
  if (isHidden(other)) throw ofDrill(undo.edits);
  throw conflict(
    `${other.entry} has already broken the same thing (${undo.edits}). Repair that first: ${mention('breaks.stop', { id: other.id })}.`,
  );
}

/** Equal for two breaks that differ only in seed and times. */
const identityOf = ({ entry, rule }: Pick<BreakRow, 'entry' | 'rule'>): string => {
  const { on, first, after, rate, nth, parameters } = rule;
  const sorted = [on, parameters].map((each) => Object.entries(each).toSorted());
  return JSON.stringify([entry, first, after, rate, nth, ...sorted]);
};

const isHidden = ({ rule }: Pick<BreakRow, 'rule'>): boolean => rule.isHidden === true;

const presentedWith =
  ({ served }: Breakable) =>
  ({ id, entry, kind, rule, startedAtMs, untilMs, seen, struck }: Running): RunningBreak => {
    const { projectId, hostname } = rule.on;
    const project = projectId === undefined ? undefined : projectOf(projectId, served());
    const owner = hostname === undefined ? (projectId ?? '') : ownerOf(hostname, served());
    return {
      ...{ id, entry, title: kind.title, on: rule.on },
      ...(project !== undefined && { project }),
      ...(owner !== '' && { projectId: owner }),
      ...(rule.first !== undefined && { first: rule.first }),
      ...{ after: rule.after, nth: rule.nth, rate: rule.rate, seed: rule.seed, parameters: rule.parameters },
      ...{ startedAt: iso(startedAtMs), until: iso(untilMs), seen, struck },
      ...(isDone({ rule, struck }) && { done: true }),
    };
  };

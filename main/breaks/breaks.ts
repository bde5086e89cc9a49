import type { AdjustableClock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createId } from '../base/secret.ts';
import { createTurns } from '../base/turns.ts';
import { BREAKS_MAX, type BreakEntry, type RunningBreak } from '../contract/breaks.ts';
import { VivariumError } from '../contract/errors.ts';
import { mention } from '../contract/mentions.ts';
import { type BreakRow, type Fault, type FaultSource, type KeptUndo, NO_FAULTS } from '../model/fault.ts';
import { pointOf } from './catalogue/index.ts';
import { type Breakable, checkRule, isOfDomain } from './check.ts';
import { decide, indexRules, type RuleIndex } from './rule-index.ts';
import { ofDrill, type StateBreak, type StateBreaks } from './state-break.ts';

/** Stores the rules in force. */
export interface BreakStorage {
  list(): BreakRow[];
  insert(row: BreakRow): void;
  reschedule(row: Pick<BreakRow, 'id' | 'untilMs'>): void;
  count(rows: readonly Pick<BreakRow, 'id' | 'seen' | 'struck'>[]): void;
  remove(id: string): void;
}

export interface StartInput extends Pick<RunningBreak, 'entry' | 'on' | 'nth' | 'seed' | 'parameters'> {
  /** The entry's own length if omitted. */
  rate?: number | undefined;
  forMs: number;
  /** A hidden break is not listed or named; `stopHidden` ends it. */
  isHidden?: true;
}

/** The running breaks. Starts and stops run one at a time. */
export interface Breaks {
  /** The source that other components read; always the same object. */
  readonly faults: FaultSource;
  /** The running breaks in start order. This and the members below exclude hidden ones. */
  list(): RunningBreak[];
  /** The running entries that have edited state. */
  edited(): string[];
  /** @throws VivariumError `not_found`, `invalid_request`, `conflict`, or the edit's; nothing is broken then. */
  start(input: StartInput): Promise<RunningBreak>;
  /** @throws VivariumError `not_found`, or what the repair threw; the break then remains listed. */
  stop(id: string): Promise<RunningBreak>;
  /** Stops all, undoes edits in reverse order, and returns the stopped breaks. @throws as `stop`. */
  stopAll(): Promise<RunningBreak[]>;
  /**
   * Ends the breaks that select one of these hostnames, which are no longer attached. A failed repair is
   * repeated.
   */
  endOf(hostnames: readonly string[]): Promise<RunningBreak[]>;
  /** Stops only the hidden breaks. @throws as `stop`. */
  stopHidden(): Promise<void>;
  /** Resumes stored breaks and repairs expired ones. Call once, before requests are served. */
  resume(): Promise<void>;
  /** Stops the timer; running breaks resume at the next start. */
  close(): void;
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

export function createBreaks(options: {
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
}): Breaks {
  const { clock, log, storage, states, onChanged } = options;
  const { onStarted = () => Promise.resolve(), onRepaired = () => Promise.resolve() } = options;
  const running = new Map<string, Running>();
  const faults: { -readonly [Member in keyof FaultSource]: FaultSource[Member] } = { ...NO_FAULTS };
  let order = 0;
  let timer: Timer | null = null;
  const { take: inTurn } = createTurns(1);

  function changed(): void {
    const points = new Set([...running.values()].map(({ kind }) => pointOf(kind)));
    const atConnections = points.has('connection');
    // Built on first use, so a thousand starts do not build a thousand indexes.
    let built: RuleIndex<Running> | null = null;
    const index = (): RuleIndex<Running> => (built ??= indexRules([...running.values()]));
    faults.request = atConnections || points.has('request') ? (facts) => strike(index().ofRequest(facts)) : null;
    faults.question = points.has('question') ? (facts) => strike(index().ofQuestion(facts)) : null;
    faults.handshake =
      atConnections || points.has('handshake') ? (hostname) => strike(index().ofHandshake(hostname)) : null;
    faults.named =
      points.has('issuance') || points.has('probe')
        ? (entry, hostnames) => strike(index().ofEntry(entry, hostnames))
        : null;
    arm();
    onChanged();
  }

  /** Counts the request for every rule that selects it; the oldest rule that strikes applies. */
  function strike(selecting: readonly Running[]): Fault | null {
    if (selecting.length === 0) return null;
    let fault: Fault | null = null;
    for (const rule of selecting) {
      rule.seen += 1;
      const draw: number | null = fault === null ? decide(rule.rule, rule.seen) : null;
      if (draw === null) continue;
      rule.struck += 1;
      const { parameters, isHidden } = rule.rule;
      fault = { breakId: rule.id, entry: rule.entry, parameters, draw, ...(isHidden && { isHidden }) };
    }
    try {
      // Written before the client sees a response, so numbering continues after `kill -9`.
      storage.count(selecting);
    } catch (error) {
      log.error('Could not write the counts of breaks', { error });
    }
    onChanged();
    return fault;
  }

  function arm(): void {
    timer?.cancel();
    timer = null;
    const first = Math.min(...[...running.values()].map(({ untilMs }) => untilMs));
    if (first !== Infinity) timer = clock.at(first, () => inTurn(endDue));
  }

  async function endDue(): Promise<void> {
    const nowMs = clock.now();
    await endOver([...running.values()].filter(({ untilMs }) => untilMs <= nowMs));
  }

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

  function reschedule(rule: Running, untilMs: number): void {
    rule.untilMs = untilMs;
    storage.reschedule(rule);
  }

  async function end(rule: Running): Promise<RunningBreak> {
    const left: string[] = [];
    if (rule.undo !== null) {
      // Stored before the repair: an engine that ends during the repair finishes it at its next start.
      storage.reschedule({ id: rule.id, untilMs: OVER_MS });
      await stateOf(rule).undo(rule.undo, rule.rule, (what) => left.push(what));
    }
    storage.remove(rule.id);
    running.delete(rule.id);
    return { ...present(rule), ...(left.length > 0 && { left }) };
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

  function stateOf({ entry }: Pick<BreakRow, 'entry'>): StateBreak {
    const state = states.get(entry);
    if (state === undefined) throw new Error(`No implementation makes the edit of ${entry}.`);
    return state;
  }

  const stopListening = clock.onAdjusted(({ backward }) => {
    if (!backward) return;
    const nowMs = clock.now();
    // The break still ends after its full length.
    for (const rule of running.values()) if (rule.untilMs > nowMs + rule.forMs) reschedule(rule, nowMs + rule.forMs);
    changed();
  });

  async function start({ entry: id, forMs, ...asked }: StartInput): Promise<RunningBreak> {
    const { entry, rule } = checkRule({ entry: id, ...asked }, options.breakable);
    if (running.size >= BREAKS_MAX)
      throw new VivariumError(
        'conflict',
        `${BREAKS_MAX} breaks are already running; repair some first: \`breaks.stopAll\`.`,
      );
    refuseTwin({ entry: entry.id, rule });
    const undo = pointOf(entry) === 'state' ? await prepare(entry.id, rule) : null;
    const startedAtMs = clock.now();
    const row: BreakRow = {
      id: createId('brk'),
      entry: entry.id,
      rule,
      startedAtMs,
      forMs,
      untilMs: startedAtMs + forMs,
      seen: 0,
      struck: 0,
      undo,
    };
    storage.insert(row);
    const begun = take(row, entry);
    if (undo !== null) {
      try {
        await stateOf(row).apply(undo, rule);
      } catch (error) {
        await end(begun);
        throw error;
      }
    }
    changed();
    await onStarted(present(begun));
    return present(begun);
  }

  function take(row: BreakRow, kind: BreakEntry): Running {
    const taken = { ...row, kind, order: (order += 1), identity: identityOf(row) };
    running.set(row.id, taken);
    return taken;
  }

  const shown = (): Running[] => [...running.values()].filter((each) => !isHidden(each));

  function refuseTwin(asked: Pick<BreakRow, 'entry' | 'rule'>): void {
    const identity = identityOf(asked);
    for (const other of shown()) {
      if (other.identity !== identity) continue;
      throw new VivariumError(
        'conflict',
        `The same break is already running until ${iso(other.untilMs)}: ${other.id}. To restart it, stop it first: ${mention('breaks.stop', { id: other.id })}.`,
      );
    }
  }

  async function prepare(entry: string, rule: BreakRow['rule']): Promise<KeptUndo> {
    const undo = await stateOf({ entry }).prepare(rule);
    for (const other of running.values()) {
      if (other.undo?.edits !== undo.edits) continue;
      if (isHidden(other)) throw ofDrill(undo.edits);
      throw new VivariumError(
        'conflict',
        `${other.entry} has already broken the same thing (${undo.edits}). Repair that first: ${mention('breaks.stop', { id: other.id })}.`,
      );
    }
    return undo;
  }

  return {
    faults,
    list: () => shown().map(present),
    edited: () =>
      shown()
        .filter(({ undo }) => undo !== null)
        .map(({ entry }) => entry),
    start: (input) => inTurn(() => start(input)),
    stop: (id) =>
      inTurn(async () => {
        const rule = running.get(id);
        if (rule === undefined || isHidden(rule))
          throw new VivariumError('not_found', `No break "${id}" is running. To list running ones: \`breaks.list\`.`);
        const ended = await end(rule);
        changed();
        await onRepaired([ended]);
        return ended;
      }),
    stopAll: () => inTurn(() => endEach(shown())),
    endOf: (hostnames) =>
      inTurn(async () => {
        const gone = new Set<string | undefined>(hostnames);
        const over = shown().filter(({ kind, rule }) => gone.has(rule.on.hostname) && isOfDomain(kind));
        return over.length === 0 ? [] : endOver(over);
      }),
    stopHidden: () => inTurn(async () => void (await endEach([...running.values()].filter(isHidden)))),
    resume: () =>
      inTurn(async () => {
        for (const row of storage.list()) {
          const kind = options.breakable.catalogue.find(({ id }) => id === row.entry);
          if (kind !== undefined) take(row, kind);
          else log.warn('Dropped a break of an unknown entry', { id: row.id, entry: row.entry });
          if (kind === undefined) storage.remove(row.id);
        }
        const nowMs = clock.now();
        const current = [...running.values()].filter(({ untilMs }) => untilMs > nowMs);
        await endDue();
        for (const rule of current) {
          if (rule.undo === null) continue;
          try {
            await stateOf(rule).apply(rule.undo, rule.rule);
          } catch (error) {
            log.error('Could not resume a break', { error, id: rule.id, entry: rule.entry });
          }
        }
      }),
    close() {
      timer?.cancel();
      stopListening();
    },
  };
}

/** Equal for two breaks that differ only in seed and times. */
const identityOf = ({ entry, rule: { on, rate, nth, parameters } }: Pick<BreakRow, 'entry' | 'rule'>): string =>
  JSON.stringify([entry, Object.entries(on).toSorted(), rate, nth, Object.entries(parameters).toSorted()]);

const isHidden = ({ rule }: Pick<BreakRow, 'rule'>): boolean => rule.isHidden === true;

const iso = (atMs: number): string => new Date(atMs).toISOString();

const present = ({ id, entry, rule, startedAtMs, untilMs, seen, struck }: BreakRow): RunningBreak => ({
  id,
  entry,
  ...{ on: rule.on, rate: rule.rate, nth: rule.nth, seed: rule.seed, parameters: rule.parameters },
  startedAt: iso(startedAtMs),
  until: iso(untilMs),
  seen,
  struck,
});

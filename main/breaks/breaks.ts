import type { AdjustableClock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createId } from '../base/secret.ts';
import { createTurns } from '../base/turns.ts';
import { BREAKS_MAX, type BreakEntry, type RunningBreak } from '../contract/breaks.ts';
import { VivariumError } from '../contract/errors.ts';
import { mention } from '../contract/mentions.ts';
import { type BreakRow, type Fault, type FaultSource, type KeptUndo, NO_FAULTS } from '../model/fault.ts';
import { pointOf } from './catalogue/index.ts';
import { type Breakable, checkRule } from './check.ts';
import { decide, indexRules, type RuleIndex } from './rule-index.ts';
import { ofDrill, type StateBreak, type StateBreaks } from './state-break.ts';

/** Where the rules in force are kept. */
export interface BreakStorage {
  list(): BreakRow[];
  insert(row: BreakRow): void;
  reschedule(row: Pick<BreakRow, 'id' | 'untilMs'>): void;
  count(rows: readonly Pick<BreakRow, 'id' | 'seen' | 'struck'>[]): void;
  remove(id: string): void;
}

export interface StartInput extends Pick<RunningBreak, 'entry' | 'on' | 'nth' | 'seed' | 'parameters'> {
  /** That of the entry if omitted. */
  rate?: number | undefined;
  forMs: number;
  /** Neither listed nor named, and ended by `stopHidden`. */
  isHidden?: true;
}

/** What is broken on purpose. Starts and ends happen one after the other. */
export interface Breaks {
  /** Read by the machines; the same object for good. */
  readonly faults: FaultSource;
  /** In the order of their starts; without hidden ones, as everything that follows. */
  list(): RunningBreak[];
  /** The entries that have edited state. */
  edited(): string[];
  /** @throws VivariumError, with nothing broken: `not_found`, `invalid_request`, `conflict`, or as the entry's edit. */
  start(input: StartInput): Promise<RunningBreak>;
  /** @throws VivariumError `not_found`, or what the undoing threw; the break is then still listed. */
  stop(id: string): Promise<RunningBreak>;
  /** Returns those that were stopped, with edits undone in reverse order. @throws as `stop`. */
  stopAll(): Promise<RunningBreak[]>;
  /** Ends the hidden ones, and no others. @throws as `stop`. */
  stopHidden(): Promise<void>;
  /** Puts the stored ones in force, and undoes those whose time is over. Call once, before requests are served. */
  resume(): Promise<void>;
  /** Stops counting time; what runs is in force again at the next start. */
  close(): void;
}

interface Running extends BreakRow {
  kind: BreakEntry;
  order: number;
  identity: string;
}

/** The undoing of an ended break is tried again after this. */
const AGAIN_MS = 60_000;

/** The stored end of a break whose repair has begun: over, whatever the clock says. */
const OVER_MS = 0;

export function createBreaks(options: {
  clock: Pick<AdjustableClock, 'now' | 'at' | 'onAdjusted'>;
  log: Log;
  storage: BreakStorage;
  breakable: Breakable;
  states: StateBreaks;
  onChanged: () => void;
  /** Called once it is in force, and waited for. Never rejects. */
  onStarted?: (started: RunningBreak) => Promise<void>;
  /** Called once they are repaired, and waited for. Never rejects. */
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
    // Built on first use: a thousand starts would build a thousand.
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

  /** Counts for all rules that select it; the oldest that strikes has it. */
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
      // Before the client sees anything: after `kill -9`, the next request has the next number.
      storage.count(selecting);
    } catch (error) {
      log.error('The counts of breaks could not be written', { error });
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
    const ended: RunningBreak[] = [];
    for (const rule of [...running.values()].toReversed()) {
      if (rule.untilMs > nowMs) continue;
      try {
        ended.push(await end(rule));
      } catch (error) {
        log.error('A break whose time is over could not be undone; it is tried again', { error, id: rule.id });
        reschedule(rule, nowMs + AGAIN_MS);
      }
    }
    changed();
    if (ended.length > 0) await onRepaired(ended);
  }

  function reschedule(rule: Running, untilMs: number): void {
    rule.untilMs = untilMs;
    storage.reschedule(rule);
  }

  async function end(rule: Running): Promise<RunningBreak> {
    const left: string[] = [];
    if (rule.undo !== null) {
      // Before the repair, so that an engine which ends during it makes no edit again at its next start, but repairs.
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
    if (state === undefined) throw new Error(`Nothing makes the edit of ${entry}.`);
    return state;
  }

  const stopListening = clock.onAdjusted(({ backward }) => {
    if (!backward) return;
    const nowMs = clock.now();
    // It still ends after the time it was to run.
    for (const rule of running.values()) if (rule.untilMs > nowMs + rule.forMs) reschedule(rule, nowMs + rule.forMs);
    changed();
  });

  async function start({ entry: id, forMs, ...asked }: StartInput): Promise<RunningBreak> {
    const { entry, rule } = checkRule({ entry: id, ...asked }, options.breakable);
    if (running.size >= BREAKS_MAX)
      throw new VivariumError('conflict', `${BREAKS_MAX} breaks run already; repair some first: \`breaks.stopAll\`.`);
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
        `The same runs already, until ${iso(other.untilMs)}: ${other.id}. To start it anew: ${mention('breaks.stop', { id: other.id })}.`,
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
        `${other.entry} has broken the same already (${undo.edits}). Repair that first: ${mention('breaks.stop', { id: other.id })}.`,
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
          throw new VivariumError('not_found', `No break "${id}" runs. Those that do: \`breaks.list\`.`);
        const ended = await end(rule);
        changed();
        await onRepaired([ended]);
        return ended;
      }),
    stopAll: () => inTurn(() => endEach(shown())),
    stopHidden: () => inTurn(async () => void (await endEach([...running.values()].filter(isHidden)))),
    resume: () =>
      inTurn(async () => {
        for (const row of storage.list()) {
          const kind = options.breakable.catalogue.find(({ id }) => id === row.entry);
          if (kind !== undefined) take(row, kind);
          else log.warn('A break of an unknown entry is dropped', { id: row.id, entry: row.entry });
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
            log.error('A break could not be put in force again', { error, id: rule.id, entry: rule.entry });
          }
        }
      }),
    close() {
      timer?.cancel();
      stopListening();
    },
  };
}

/** The same for two breaks that differ in their seeds and times only. */
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

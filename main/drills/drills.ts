import { iso } from '../contract/values.ts';
import { z } from 'zod';
import type { AdjustableClock, EpochMs, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createTurns } from '../base/turns.ts';
import {
  type RunningBreak,
  DRILL_ENTRY,
  DRILL_TITLE,
  type Drill,
  drillResult,
  type DrillResult,
} from '../contract/breaks.ts';
import { notFound } from '../contract/errors.ts';
import { didYouMean } from '../contract/issues.ts';
import {
  type DrillText,
  rightCause,
  after,
  type DrillEvent,
  drillState,
  type DrillState,
  notRunning,
  type PracticeGround,
} from './drill.ts';
import { type FixFacts, missingFor } from './fix.ts';

/** The project and zone of a drill: created for it, and removed with their contents. */
export interface Practice {
  /** Changes nothing. @throws VivariumError `conflict` if the practice project cannot be created. */
  check(drill: DrillText): Promise<void>;
  make(drill: DrillText): Promise<PracticeGround>;
  createProblems(drill: DrillText, ground: PracticeGround): Promise<void>;
  /** Ends the problems and removes the practice project; `ground` is null if its creation was not finished. */
  remove(ground: PracticeGround | null): Promise<void>;
  observe(drill: DrillText, ground: PracticeGround): Promise<Omit<FixFacts, 'foundAtMs'>>;
  /** Replaces placeholders with addresses, ports and keys. */
  fill(text: string, ground: PracticeGround): string;
}

/** Stores one JSON value; it survives `kill -9`. */
export interface DrillStorage {
  read(): unknown;
  write(value: unknown): void;
}

const stored = z.object({
  state: drillState.nullable(),
  /** The last result of each drill. */
  results: z.record(z.string(), drillResult),
});

export type Drills = ReturnType<typeof createDrills>;

/** Drills: one runs at a time, and calls run one after another. */
export function createDrills(options: {
  clock: Pick<AdjustableClock, 'now' | 'at' | 'onAdjusted' | 'state'>;
  log: Log;
  storage: DrillStorage;
  drills: readonly DrillText[];
  practice: Practice;
  onChanged: () => void;
}) {
  const { clock, log, storage, drills, practice, onChanged } = options;
  let { state, results } = stored.catch({ state: null, results: {} }).parse(storage.read());
  let timer: Timer | null = null;
  const { enqueue: inTurn } = createTurns(1);

  function keep(next: DrillState | null): void {
    state = next;
    storage.write({ state, results });
    timer?.cancel();
    timer = next === null || next.phase === 'ending' ? null : clock.at(next.untilMs, stopAny);
    onChanged();
  }

  function apply(event: DrillEvent): { drill: DrillText; state: DrillState } {
    if (state === null) throw notRunning();
    const drill = find(drills, state.drill);
    const next = after(state, event, drill);
    keep(next);
    return { drill, state: next };
  }

  async function start(id: string): Promise<Drill> {
    const drill = find(drills, id);
    const begun = after(state, { type: 'start', atMs: clock.now(), realMs: clock.state().realNow }, drill);
    await practice.check(drill);
    keep(begun);
    try {
      const ground = await practice.make(drill);
      keep({ ...begun, ground });
      await practice.createProblems(drill, ground);
      keep(after(begun, { type: 'ready', ground }, drill));
    } catch (error) {
      await end();
      throw error;
    }
    return present(drill);
  }

  async function answer(cause: string | undefined): Promise<Drill> {
    const { drill, state: answered } = apply({ type: 'answer', atMs: clock.now(), cause });
    if (answered.foundAtMs === null || answered.ground === null) return present(drill);
    const facts = { ...(await practice.observe(drill, answered.ground)), foundAtMs: answered.foundAtMs };
    const missing = missingFor(drill.fix, facts);
    const checked = apply({ type: 'checked', atMs: clock.now(), missing });
    if (missing === null) {
      results = { ...results, [drill.id]: resultOf(drill, checked.state, facts.requests.length, clock.state()) };
      await end();
    }
    return present(drill);
  }

  async function end(): Promise<void> {
    if (state === null) return;
    keep({ ...state, phase: 'ending' });
    await practice.remove(state.ground);
    keep(null);
  }

  const stopAny = (): Promise<void> => inTurn(end);

  function present(drill: DrillText): Drill {
    const { id, title, subject, teaches } = drill;
    const result = results[id];
    return {
      ...{ id, title, subject, teaches },
      ...(state?.drill === id && state.phase === 'running' && { running: presentRunning(drill, state, practice.fill) }),
      ...(result !== undefined && { result }),
    };
  }

  const stopListening = clock.onAdjusted(({ backward }) => {
    if (backward && state !== null) apply({ type: 'clock moved back', nowMs: clock.now() });
  });

  return {
    list: () => drills.map(present),
    /** @throws VivariumError `not_found`, `conflict`, or the error of the preparation, which is then undone. */
    start: (id: string) => inTurn(() => start(id)),
    hint: () => inTurn(() => Promise.resolve(present(apply({ type: 'hint', atMs: clock.now() }).drill))),
    answer: (cause: string | undefined) => inTurn(() => answer(cause)),
    stop: () =>
      inTurn(async () => {
        const { drill } = apply({ type: 'end' });
        await end();
        return present(drill);
      }),
    /** Like `stop`, but does nothing if no drill is running. */
    stopAny,
    /** The running drill as an item of the list of breaks; null if none is running. */
    shown: () => asBreak(state),
    /** Records a step of the user, such as `records.put shop`. */
    recordStep(what: string): void {
      if (state?.phase === 'running') apply({ type: 'step', atMs: clock.now(), what });
    },
    /** Resumes the stored drill, or removes its remains. Call once, after `Breaks.resume`. */
    resume: () =>
      inTurn(async () => {
        if (state === null) return;
        try {
          if (isResumable(state, drills, clock.now())) keep(state);
          else await end();
        } catch (error) {
          log.error('Could not remove the practice project of a drill; `drills.stop` tries again', { error });
        }
      }),
    close(): void {
      timer?.cancel();
      stopListening();
    },
  };
}

function find(drills: readonly DrillText[], id: string): DrillText {
  const found = drills.find((each) => each.id === id);
  if (found !== undefined) return found;
  const ids = drills.map((each) => each.id);
  throw notFound(`There is no drill "${id}".${didYouMean(id, ids) || ' To list drills: `drills.list`.'}`);
}

/** A newer Vivarium may have stored a drill that this version lacks. */
const isResumable = ({ drill, phase, untilMs }: DrillState, drills: readonly DrillText[], nowMs: EpochMs): boolean =>
  phase === 'running' && untilMs > nowMs && drills.some(({ id }) => id === drill);

function asBreak(state: DrillState | null): RunningBreak | null {
  if (state === null || state.ground === null) return null;
  const { drill, ground, startedAtMs, untilMs } = state;
  return {
    ...{ id: DRILL_ENTRY, entry: DRILL_ENTRY, title: DRILL_TITLE, drill },
    ...{ after: 0, nth: 1, rate: 1, seed: 0, parameters: {}, seen: 0, struck: 0 },
    on: { hostname: ground.hostname },
    projectId: ground.projectId,
    startedAt: iso(startedAtMs),
    until: iso(untilMs),
  };
}

const shownStep = ({ atMs, what }: DrillState['steps'][number]) => ({ at: iso(atMs), what });

function resultOf(
  drill: DrillText,
  { hints, wrong, steps, startedRealMs }: DrillState,
  requests: number,
  { now, realNow }: { now: EpochMs; realNow: EpochMs },
): DrillResult {
  return {
    at: iso(now),
    seconds: Math.max(0, Math.round((realNow - startedRealMs) / 1_000)),
    ...{ hints, wrong: wrong.length, requests, steps: steps.map(shownStep) },
    cause: rightCause(drill).text,
    explanation: drill.explanation,
  };
}

function presentRunning(drill: DrillText, state: DrillState, fill: Practice['fill']): NonNullable<Drill['running']> {
  const { ground, ...now } = state;
  if (ground === null) throw new Error('A running drill must have a practice project.');
  const filled = (text: string): string => fill(text, ground);
  const { projectId, hostname } = ground;
  return {
    ...{ projectId, hostname },
    story: drill.story,
    command: filled(drill.command),
    causes: drill.causes.map(({ id, text }) => ({ id, text })),
    hints: drill.hints.slice(0, now.hints).map(filled),
    hintsLeft: drill.hints.length - now.hints,
    wrong: drill.causes.flatMap(({ id, why }) =>
      why !== undefined && now.wrong.includes(id) ? [{ cause: id, why: filled(why) }] : [],
    ),
    ...(now.foundAtMs !== null && {
      ...{ found: rightCause(drill).id, task: drill.task, taskCommand: filled(drill.taskCommand) },
    }),
    ...(now.missing !== null && { missing: now.missing }),
    startedAt: iso(now.startedAtMs),
    until: iso(now.untilMs),
    steps: now.steps.map(shownStep),
  };
}

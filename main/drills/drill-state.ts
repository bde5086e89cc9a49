import { z } from 'zod';
import type { EpochMs } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import { didYouMean } from '../contract/issues.ts';
import { DAY_MS } from '../contract/duration.ts';
import { type DrillCause, type DrillText, rightCause } from './drill.ts';

/** The longest time that a drill runs, on the app’s clock. */
export const DRILL_MS = DAY_MS;

/** The number of stored steps; later ones are dropped. */
export const STEPS_MAX = 200;

export const practiceGround = z.object({
  projectId: z.string(),
  hostname: z.string(),
  keyId: z.string(),
  secret: z.string(),
  /** The serial of the certificate before the problem was created; null without a domain. */
  serial: z.string().nullable(),
});
export type PracticeGround = z.infer<typeof practiceGround>;

export const drillState = z.object({
  drill: z.string(),
  /** Stored before creation and before removal begin, so that the next start can clean up after `kill -9`. */
  phase: z.enum(['preparing', 'running', 'ending']),
  startedAtMs: z.number(),
  startedRealMs: z.number(),
  untilMs: z.number(),
  hints: z.number(),
  /** Ids of the wrong causes that the user has answered. */
  wrong: z.array(z.string()),
  /** When the user answered the right cause. */
  foundAtMs: z.number().nullable(),
  /** What is still missing for the fix; null before the first check and after success. */
  missing: z.string().nullable(),
  steps: z.array(z.object({ atMs: z.number(), what: z.string() })),
  ground: practiceGround.nullable(),
});
export type DrillState = z.infer<typeof drillState>;

export type DrillEvent =
  | { type: 'start'; atMs: EpochMs; realMs: EpochMs }
  | { type: 'ready'; ground: PracticeGround }
  | { type: 'hint'; atMs: EpochMs }
  /** Without a cause, the fix is checked. */
  | { type: 'answer'; atMs: EpochMs; cause?: string | undefined }
  /** The fix was checked; null if nothing is missing. */
  | { type: 'checked'; atMs: EpochMs; missing: string | null }
  | { type: 'step'; atMs: EpochMs; what: string }
  | { type: 'clock moved back'; nowMs: EpochMs }
  | { type: 'end' };

export const notRunning = (): VivariumError =>
  new VivariumError('not_found', 'No drill is running. To list drills: `drills.list`.');

/**
 * Returns the state after an event. @throws VivariumError `conflict` for a second start, `not_found` if no drill is
 * running, `invalid_request` for an unknown cause.
 */
export function after(state: DrillState | null, event: DrillEvent, drill: DrillText): DrillState {
  if (event.type === 'start') {
    if (state === null) return begun(drill, event);
    throw new VivariumError(
      'conflict',
      `The drill "${state.drill}" is already running. End it first: \`drills.stop\`.`,
    );
  }
  if (state === null) throw notRunning();
  if (event.type === 'ready') return { ...state, phase: 'running', ground: event.ground };
  if (event.type === 'end') return { ...state, phase: 'ending' };
  if (event.type === 'clock moved back') return { ...state, untilMs: Math.min(state.untilMs, event.nowMs + DRILL_MS) };
  if (state.phase !== 'running') throw notRunning();
  switch (event.type) {
    case 'hint': {
      if (state.hints >= drill.hints.length)
        throw new VivariumError('conflict', `All ${drill.hints.length} hints are shown. To give up: \`drills.stop\`.`);
      const hints = state.hints + 1;
      return withStep({ ...state, hints }, event.atMs, `Hint ${hints} of ${drill.hints.length}`);
    }
    case 'answer':
      return answered(state, event, drill);
    case 'checked': {
      const { missing, atMs } = event;
      if (state.foundAtMs === null) throw new VivariumError('conflict', 'The cause has not been found yet.');
      if (missing === null) return withStep({ ...state, missing, phase: 'ending' }, atMs, 'Fixed');
      return withStep({ ...state, missing }, atMs, 'Checked: not fixed yet');
    }
    case 'step':
      return withStep(state, event.atMs, event.what);
  }
}

const begun = ({ id }: DrillText, { atMs, realMs }: { atMs: EpochMs; realMs: EpochMs }): DrillState => ({
  drill: id,
  phase: 'preparing',
  startedAtMs: atMs,
  startedRealMs: realMs,
  untilMs: atMs + DRILL_MS,
  hints: 0,
  wrong: [],
  foundAtMs: null,
  missing: null,
  steps: [],
  ground: null,
});

function answered(
  state: DrillState,
  { cause: text, atMs }: { cause?: string | undefined; atMs: EpochMs },
  drill: DrillText,
): DrillState {
  if (state.foundAtMs !== null) return state;
  const cause = causeOf(drill, text);
  if (cause === rightCause(drill)) return withStep({ ...state, foundAtMs: atMs }, atMs, `Found: ${cause.text}`);
  const wrong = state.wrong.includes(cause.id) ? state.wrong : [...state.wrong, cause.id];
  return withStep({ ...state, wrong }, atMs, `Wrong: ${cause.text}`);
}

function causeOf({ causes }: DrillText, text: string | undefined): DrillCause {
  const cause = causes.find(({ id }, index) => id === text || String(index + 1) === text);
  if (cause !== undefined) return cause;
  const ids = causes.map(({ id }) => id);
  const message =
    text === undefined
      ? `is required until the right one is found: ${ids.join(', ')}`
      : `"${text}" is not one of ${ids.join(', ')}.${didYouMean(text, ids)}`;
  throw new VivariumError('invalid_request', `cause: ${message}`, { issues: [{ path: 'cause', message }] });
}

const withStep = (state: DrillState, atMs: EpochMs, what: string): DrillState =>
  state.steps.length >= STEPS_MAX ? state : { ...state, steps: [...state.steps, { atMs, what }] };

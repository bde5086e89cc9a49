import { z } from 'zod';
import type { EpochMs } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import { didYouMean } from '../contract/nearest.ts';
import { DAY_MS } from '../contract/duration.ts';
import { type DrillCause, type DrillText, rightCause } from './drill.ts';

/** How long a drill runs on the app’s clock, unless it is mended before. */
export const DRILL_MS = DAY_MS;

/** The steps that are kept; later ones are left out. */
export const STEPS_MAX = 200;

/** What the drill has made. */
export const practiceGround = z.object({
  projectId: z.string(),
  hostname: z.string(),
  keyId: z.string(),
  secret: z.string(),
  /** Of the certificate before the trouble; null without a domain. */
  serial: z.string().nullable(),
});
export type PracticeGround = z.infer<typeof practiceGround>;

/** A drill on its way, as it is stored. */
export const drillState = z.object({
  drill: z.string(),
  /** Stored before anything is made, and before anything is removed: after `kill -9`, the next start removes it. */
  phase: z.enum(['preparing', 'running', 'ending']),
  startedAtMs: z.number(),
  startedRealMs: z.number(),
  untilMs: z.number(),
  hints: z.number(),
  /** Ids of the wrong causes that were answered. */
  wrong: z.array(z.string()),
  /** When the right cause was answered. */
  foundAtMs: z.number().nullable(),
  /** What the mending lacks; null before the first check, and once it is mended. */
  missing: z.string().nullable(),
  steps: z.array(z.object({ atMs: z.number(), what: z.string() })),
  ground: practiceGround.nullable(),
});
export type DrillState = z.infer<typeof drillState>;

export type DrillEvent =
  | { type: 'start'; atMs: EpochMs; realMs: EpochMs }
  | { type: 'ready'; ground: PracticeGround }
  | { type: 'hint'; atMs: EpochMs }
  /** Without a cause, the mending is to be checked. */
  | { type: 'answer'; atMs: EpochMs; cause?: string | undefined }
  /** The mending was checked; nothing is missing for null. */
  | { type: 'checked'; atMs: EpochMs; missing: string | null }
  | { type: 'did'; atMs: EpochMs; what: string }
  | { type: 'clock moved back'; nowMs: EpochMs }
  | { type: 'end' };

export const noneRuns = (): VivariumError =>
  new VivariumError('not_found', 'No drill runs. Those that there are: `drills.list`.');

/**
 * The state after an event. @throws VivariumError, with the state unchanged: `conflict` for a second start, `not_found`
 * where no drill runs, `invalid_request` for a cause that is none.
 */
export function after(state: DrillState | null, event: DrillEvent, drill: DrillText): DrillState {
  if (event.type === 'start') {
    if (state === null) return begun(drill, event);
    throw new VivariumError('conflict', `The drill "${state.drill}" runs already. End it first: \`drills.stop\`.`);
  }
  if (state === null) throw noneRuns();
  if (event.type === 'ready') return { ...state, phase: 'running', ground: event.ground };
  if (event.type === 'end') return { ...state, phase: 'ending' };
  if (event.type === 'clock moved back') return { ...state, untilMs: Math.min(state.untilMs, event.nowMs + DRILL_MS) };
  if (state.phase !== 'running') throw noneRuns();
  switch (event.type) {
    case 'hint': {
      if (state.hints >= drill.hints.length)
        throw new VivariumError(
          'conflict',
          `There are no more hints than these ${drill.hints.length}. To give up: \`drills.stop\`.`,
        );
      const hints = state.hints + 1;
      return withStep({ ...state, hints }, event.atMs, `Hint ${hints} of ${drill.hints.length}`);
    }
    case 'answer':
      return answered(state, event, drill);
    case 'checked': {
      const { missing, atMs } = event;
      if (state.foundAtMs === null) throw new VivariumError('conflict', 'The cause is not found yet.');
      if (missing === null) return withStep({ ...state, missing, phase: 'ending' }, atMs, 'Mended');
      return withStep({ ...state, missing }, atMs, 'Checked: not mended yet');
    }
    case 'did':
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

/** By id, or by number from 1. */
function causeOf({ causes }: DrillText, text: string | undefined): DrillCause {
  const cause = causes.find(({ id }, index) => id === text || String(index + 1) === text);
  if (cause !== undefined) return cause;
  const ids = causes.map(({ id }) => id);
  const message =
    text === undefined
      ? `is needed until it is found: ${ids.join(', ')}`
      : `"${text}" is none of ${ids.join(', ')}.${didYouMean(text, ids)}`;
  throw new VivariumError('invalid_request', `cause: ${message}`, { issues: [{ path: 'cause', message }] });
}

const withStep = (state: DrillState, atMs: EpochMs, what: string): DrillState =>
  state.steps.length >= STEPS_MAX ? state : { ...state, steps: [...state.steps, { atMs, what }] };

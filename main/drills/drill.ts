import type { DrillSubject } from '../contract/breaks.ts';
import { z } from 'zod';
import type { EpochMs } from '../base/clock.ts';
import { conflict, invalidRequest, notFound, type VivariumError } from '../contract/errors.ts';
import { didYouMean } from '../contract/issues.ts';
import { DAY_MS } from '../contract/duration.ts';

/** The setting of a drill; a domain is `shop.drill.test` in the zone `drill.test`, verified and with a certificate. */
type DrillPlace = 'project' | 'domain';

/** A hidden break of the catalogue, or an edit of the practice project. */
export type DrillProblem =
  | {
      kind: 'break';
      entry: string;
      at: DrillPlace;
      method?: string;
      nth?: number;
      parameters?: Readonly<Record<string, string | number>>;
    }
  | { kind: 'limits'; perMinute: number; perDay: number }
  | { kind: 'revoked key' }
  | { kind: 'dead target' }
  /** A hostname has a CNAME to Vivarium but is not attached. */
  | { kind: 'unattached'; hostname: string };

/** The state that completes the drill; `fix.ts` checks it. */
export type DrillFix =
  /** After a refusal, a client waits as long as `Retry-After` says, and its next request succeeds. */
  | { kind: 'waited' }
  /** A client aborts a request that gets no answer. */
  | { kind: 'gave up'; withinMs: number }
  /** After a failed answer, a client checks the outcome before it retries. */
  | { kind: 'checked first' }
  /** A client gets an answer over HTTP/2. */
  | { kind: 'over HTTP/2' }
  /** The last request succeeds, with a new key if required. */
  | { kind: 'answered'; withNewKey?: true }
  /** The hostname is verified and has a certificate, a new one if required. */
  | { kind: 'serves'; hostname: string; renewed?: true };

interface DrillCause {
  id: string;
  text: string;
  /** Why this cause is wrong; absent for the right one. */
  why?: string;
}

/**
 * A problem with a hidden cause. Texts may contain `{url}` and `{secureUrl}` (with `/v1`), `{key}`, `{ca}` (the file of
 * the root), `{https}` and `{dns}` (ports).
 */
export interface DrillText {
  id: string;
  title: string;
  subject: DrillSubject;
  teaches: string;
  place: DrillPlace;
  problems: readonly DrillProblem[];
  story: string;
  command: string;
  /** Exactly one cause has no `why`. */
  causes: readonly DrillCause[];
  hints: readonly string[];
  /** How to fix the problem, shown after the cause is found, with a helpful command. */
  task: string;
  taskCommand: string;
  fix: DrillFix;
  /** How the problem was caused, shown at the end. */
  explanation: string;
}

/** As the catalogue has it: its causes by id, each with its text and, unless it is the right one, why it is wrong. */
export type WrittenDrill = Omit<DrillText, 'causes'> & {
  causes: Readonly<Record<string, readonly [text: string, why?: string]>>;
};

export const DRILL_SLUG = 'drill';
export const DRILL_ZONE = 'drill.test';
export const DRILL_DOMAIN = 'shop.drill.test';

export function rightCause({ id, causes }: Pick<DrillText, 'id' | 'causes'>): DrillCause {
  const right = causes.find(({ why }) => why === undefined);
  if (right === undefined) throw new Error(`The drill ${id} has no right cause.`);
  return right;
}

/** Formats a command within a text. */
export const code = (command: string): string => `\`${command}\``;

/** The longest time that a drill runs, on the app’s clock. */
export const DRILL_MS = DAY_MS;

/** The number of stored steps; later ones are dropped. */
export const STEPS_MAX = 200;

const practiceGround = z.object({
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

export const notRunning = (): VivariumError => notFound('No drill is running. To list drills: `drills.list`.');

/**
 * Returns the state after an event. @throws VivariumError `conflict` for a second start, `not_found` if no drill is
 * running, `invalid_request` for an unknown cause.
 */
export function after(state: DrillState | null, event: DrillEvent, drill: DrillText): DrillState {
  if (event.type === 'start') {
    if (state === null) return begun(drill, event);
    throw conflict(`The drill "${state.drill}" is already running. End it first: \`drills.stop\`.`);
  }
  if (state === null) throw notRunning();
  if (event.type === 'ready') return { ...state, phase: 'running', ground: event.ground };
  if (event.type === 'end') return { ...state, phase: 'ending' };
  if (event.type === 'clock moved back') return { ...state, untilMs: Math.min(state.untilMs, event.nowMs + DRILL_MS) };
  if (state.phase !== 'running') throw notRunning();
  switch (event.type) {
    case 'hint': {
      if (state.hints >= drill.hints.length)
        throw conflict(`All ${drill.hints.length} hints are shown. To give up: \`drills.stop\`.`);
      const hints = state.hints + 1;
      return withStep({ ...state, hints }, event.atMs, `Hint ${hints} of ${drill.hints.length}`);
    }
    case 'answer':
      return answered(state, event, drill);
    case 'checked': {
      const { missing, atMs } = event;
      if (state.foundAtMs === null) throw conflict('The cause has not been found yet.');
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
  throw invalidRequest(`cause: ${message}`, { issues: [{ path: 'cause', message }] });
}

const withStep = (state: DrillState, atMs: EpochMs, what: string): DrillState =>
  state.steps.length >= STEPS_MAX ? state : { ...state, steps: [...state.steps, { atMs, what }] };

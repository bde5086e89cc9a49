import { pairsOf, asHttp1 } from '../../base/http/message.ts';
import type { EpochMs } from '../../base/clock.ts';
import { type Problem, problemOf, rateFields } from '../../model/problem.ts';
import type { RateState } from '../../model/rate-decision.ts';
import { sendChanged, WIRE_FAULTS } from './wire-faults.ts';
import {
  changedFields,
  fieldOf,
  type HeldAnswer,
  writeHeldHead,
  idBeforeLast,
  roundIntegers,
  type Breaking,
  numberOf,
  type Struck,
  holdAnswer,
  writeHeld,
} from './held-answer.ts';
import { nameOf } from '../../model/fault.ts';

/** IMF-fixdate (RFC 9110 §5.6.7). */
const httpDate = (atMs: EpochMs): string => new Date(atMs).toUTCString();

/** A refusal by the limit, with `Retry-After` from `valueOf`; without the field for null. */
const limited = (
  valueOf: (struck: Struck) => string | null,
  resetSecondsOf?: (struck: Struck) => number,
): Breaking => ({
  instead(struck) {
    const value = valueOf(struck);
    const message = 'The limit of requests is used up; wait, then try again.';
    const headers = value === null ? [] : ['Retry-After', value];
    const problem = problemOf('rate_limit_exceeded', 'Too many requests', message, { headers });
    struck.refuse(problem, usedUp(struck, resetSecondsOf?.(struck)));
    return 'answered';
  },
});

/** The rate headers of a window that is used up, and that ends in `resetSeconds` if given. */
function usedUp({ rate, realNow }: Struck, resetSeconds?: number): RateState {
  const known = rate ?? { limit: 60, remaining: 0, resetAtMs: realNow() + 60_000 };
  const fields = pairsOf(rateFields(known)).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === 'x-ratelimit-remaining') return [name, '0'];
    const isMoved = lower === 'x-ratelimit-reset' && resetSeconds !== undefined;
    return [name, isMoved ? String(Math.ceil(realNow() / 1_000) + resetSeconds) : value];
  });
  return { ...known, remaining: 0, fields };
}

/** A problem in place of the target's answer. */
const refused = (problemFor: (struck: Struck) => Problem): Breaking => ({
  instead(struck) {
    struck.refuse(problemFor(struck));
    return 'answered';
  },
});

const unavailable = (struck: Struck, headers: readonly string[]): Problem =>
  problemOf(
    'unavailable',
    'Unavailable',
    `${struck.exchange.record.hostname ?? 'The service'} is down for maintenance.`,
    { headers },
  );

const send = ({ exchange }: Struck, answer: HeldAnswer): void => {
  writeHeldHead(exchange.response, answer);
  asHttp1(exchange.response).end(answer.body);
};

const API_FAULTS: Readonly<Record<string, Breaking>> = {
  'api.retry-after-missing': limited(() => null),
  'api.retry-after-http-date': limited((struck) => httpDate(struck.realNow() + numberOf(struck, 'seconds') * 1_000)),
  'api.retry-after-past': limited((struck) => httpDate(struck.realNow() - numberOf(struck, 'seconds') * 1_000)),
  'api.retry-after-huge': limited((struck) => String(numberOf(struck, 'seconds'))),
  'api.retry-after-fractional': limited(({ fault }) => String(fault.parameters.value)),
  'api.retry-after-garbage': limited(({ fault }) => String(fault.parameters.value)),
  'api.retry-after-disagrees': limited(
    (struck) => String(numberOf(struck, 'seconds')),
    (struck) => numberOf(struck, 'resetSeconds'),
  ),
  'api.unavailable': refused((struck) => unavailable(struck, ['Retry-After', String(numberOf(struck, 'seconds'))])),
  'api.error-after-commit': {
    afterwards(struck, { status }) {
      if (status >= 400) return false;
      struck.refuse(problemOf('internal_error', 'Internal error', 'Something failed on our side.'));
      return true;
    },
  },
  'api.key-revoked': refused(() =>
    problemOf(
      'unauthorized',
      'The API key is not valid',
      'The API key is not valid for this project, or was revoked.',
      { headers: ['WWW-Authenticate', 'Bearer error="invalid_token"'] },
    ),
  ),
  'api.banned': refused((struck) =>
    problemOf(
      'api_key_banned',
      'The API key is banned',
      'The API key is banned, because it kept sending requests after refusals.',
      { headers: ['Retry-After', String(numberOf(struck, 'seconds'))] },
    ),
  ),
  'api.sunset': refused((struck) => {
    const atMs = struck.realNow() - numberOf(struck, 'daysAgo') * 86_400_000;
    return problemOf('gone', 'Gone', `This operation was removed on ${httpDate(atMs)}.`, {
      headers: ['Sunset', httpDate(atMs)],
    });
  }),
  'api.cursor-repeats': {
    afterwards(struck, answer) {
      const link = fieldOf(answer.fields, 'link');
      const id = idBeforeLast(answer.body.toString());
      if (link === undefined || id === null || !/[?&]after=-?\d+/.test(link)) return false;
      const moved = link.replace(/([?&]after=)-?\d+/, `$1${id}`);
      send(struck, { ...answer, fields: changedFields(answer.fields, ['link'], ['Link', moved]) });
      return true;
    },
  },
  'api.int64-rounded': {
    afterwards(struck, answer) {
      const rounded = roundIntegers(answer.body.toString());
      if (rounded === null || fieldOf(answer.fields, 'content-encoding') !== undefined) return false;
      sendChanged(struck, answer, Buffer.from(rounded));
      return true;
    },
  },
  'api.date-skewed': {
    afterwards(struck, answer) {
      const date = httpDate(struck.realNow() + numberOf(struck, 'seconds') * 1_000);
      send(struck, { ...answer, fields: changedFields(answer.fields, ['date'], ['Date', date]) });
      return true;
    },
  },
  'api.staging-down': refused((struck) => unavailable(struck, [])),
};

/** By entry id. */
export const FAULTS: ReadonlyMap<string, Breaking> = new Map(Object.entries({ ...WIRE_FAULTS, ...API_FAULTS }));

/** Holds a request back, then calls `pass`; if its client leaves meanwhile, `onGone`. */
export function delayRequest(
  { exchange, fault, clock }: Pick<Struck, 'exchange' | 'fault' | 'clock'>,
  { pass, onGone }: { pass: () => void; onGone: () => void },
): void {
  const { record, response } = exchange;
  const delayMs = numberOf({ fault }, 'delayMs') + fault.draw * numberOf({ fault }, 'jitterMs');
  record.fault = nameOf(fault);
  record.delayed = true;
  const timer = clock.realTimer(delayMs, () => {
    response.removeListener('close', leave);
    record.delayed = false;
    record.activeMs = clock.monotonic();
    pass();
  });
  const leave = (): void => {
    timer.cancel();
    onGone();
  };
  response.once('close', leave);
}

/**
 * Breaks a selected request, or arranges for its answer to be broken; names the fault in its record. Returns whether
 * the request has been answered instead of by its target.
 */
export function breakRequest(struck: Struck): boolean {
  const { exchange, fault } = struck;
  const { record, response } = exchange;
  const before = record.fault;
  const breaking = FAULTS.get(fault.entry);
  if (breaking === undefined) return false;
  const name = (): void => {
    record.fault = nameOf(fault);
  };
  if ('instead' in breaking) {
    const outcome = breaking.instead(struck);
    if (outcome === 'unfit') struck.giveBack();
    else name();
    return outcome === 'answered';
  }
  name();
  const giveBack = (): void => {
    record.fault = before;
    struck.giveBack();
  };
  holdAnswer(response, {
    onComplete(answer) {
      if (response.destroyed) return;
      if (breaking.afterwards(struck, answer)) return;
      giveBack();
      writeHeld(response, answer);
    },
    onPassing: giveBack,
  });
  return false;
}

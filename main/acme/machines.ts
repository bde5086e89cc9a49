import type { AuthorizationStatus, ChallengeStatus, OrderStatus } from '../model/acme.ts';
import { AcmeError, isProblemType, type ProblemType } from './problem.ts';

/** What each event does in each state (RFC 8555 §7.1.6): the next state, or the problem of the request that wanted it. */
type Table<State extends string, Event extends string> = Record<State, Record<Event, State | ProblemType>>;

export type OrderEvent =
  /** All its authorisations are valid. */
  | 'authorized'
  /** One of them is no longer, and cannot become so. */
  | 'failed'
  /** A client sends its CSR. */
  | 'finalize'
  /** The certificate is signed. */
  | 'issue'
  | 'expire';

const ORDER: Table<OrderStatus, OrderEvent> = {
  pending: {
    authorized: 'ready',
    failed: 'invalid',
    finalize: 'orderNotReady',
    issue: 'orderNotReady',
    expire: 'invalid',
  },
  ready: {
    authorized: 'ready',
    failed: 'invalid',
    finalize: 'processing',
    issue: 'orderNotReady',
    expire: 'invalid',
  },
  processing: {
    authorized: 'processing',
    failed: 'invalid',
    finalize: 'orderNotReady',
    issue: 'valid',
    expire: 'processing',
  },
  valid: {
    authorized: 'valid',
    failed: 'valid',
    finalize: 'orderNotReady',
    issue: 'orderNotReady',
    expire: 'valid',
  },
  invalid: {
    authorized: 'invalid',
    failed: 'invalid',
    finalize: 'orderNotReady',
    issue: 'orderNotReady',
    expire: 'invalid',
  },
};

export type AuthorizationEvent = 'validated' | 'failed' | 'deactivate' | 'expire';

const AUTHORIZATION: Table<AuthorizationStatus, AuthorizationEvent> = {
  pending: { validated: 'valid', failed: 'invalid', deactivate: 'deactivated', expire: 'expired' },
  // CAA may forbid later what it permitted.
  valid: { validated: 'valid', failed: 'invalid', deactivate: 'deactivated', expire: 'expired' },
  invalid: { validated: 'invalid', failed: 'invalid', deactivate: 'malformed', expire: 'invalid' },
  deactivated: { validated: 'deactivated', failed: 'deactivated', deactivate: 'malformed', expire: 'deactivated' },
  expired: { validated: 'expired', failed: 'expired', deactivate: 'malformed', expire: 'expired' },
};

/** `respond`: the client says that the server may look. */
export type ChallengeEvent = 'respond' | 'validated' | 'failed';

const CHALLENGE: Table<ChallengeStatus, ChallengeEvent> = {
  pending: { respond: 'processing', validated: 'malformed', failed: 'malformed' },
  processing: { respond: 'processing', validated: 'valid', failed: 'invalid' },
  valid: { respond: 'valid', validated: 'valid', failed: 'valid' },
  invalid: { respond: 'invalid', validated: 'invalid', failed: 'invalid' },
};

const stepIn =
  <State extends string, Event extends string>(noun: string, table: Table<State, Event>) =>
  (state: State, event: Event): State => {
    const next: State | ProblemType = table[state][event];
    if (isProblemType(next)) throw new AcmeError(next, `The ${noun} is "${state}", which excludes this.`);
    return next;
  };

/** The next state. @throws AcmeError where the event is refused. */
export const stepOrder = stepIn('order', ORDER);
export const stepAuthorization = stepIn('authorization', AUTHORIZATION);
export const stepChallenge = stepIn('challenge', CHALLENGE);

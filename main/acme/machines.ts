import type { AuthorizationStatus, ChallengeStatus, OrderStatus } from '../model/acme.ts';
import { AcmeError, isProblemType, type ProblemType } from './problem.ts';

/** For each state and event (RFC 8555 §7.1.6): the next state, or the problem that the request gets. */
type Table<State extends string, Event extends string> = Record<State, Record<Event, State | ProblemType>>;

export type OrderEvent =
  /** All authorizations of the order are valid. */
  | 'authorized'
  /** One authorization can no longer become valid. */
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
  // A later CAA check may forbid what an earlier one permitted.
  valid: { validated: 'valid', failed: 'invalid', deactivate: 'deactivated', expire: 'expired' },
  // lego deactivates failed authorizations. Boulder answers that with 200 and changes nothing.
  invalid: { validated: 'invalid', failed: 'invalid', deactivate: 'invalid', expire: 'invalid' },
  deactivated: { validated: 'deactivated', failed: 'deactivated', deactivate: 'deactivated', expire: 'deactivated' },
  expired: { validated: 'expired', failed: 'expired', deactivate: 'expired', expire: 'expired' },
};

/** `respond`: the client asks the server to validate. */
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
    if (isProblemType(next)) throw new AcmeError(next, `The ${noun} is "${state}", which does not allow this.`);
    return next;
  };

/** Returns the next state. @throws AcmeError if the state refuses the event. */
export const stepOrder = stepIn('order', ORDER);
export const stepAuthorization = stepIn('authorization', AUTHORIZATION);
export const stepChallenge = stepIn('challenge', CHALLENGE);

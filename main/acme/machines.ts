import type { AuthorizationStatus, ChallengeStatus, OrderStatus } from '../model/acme.ts';
import { AcmeError, type ProblemType } from './problem.ts';

/**
 * The machines of RFC 8555 §7.1.6: for each state, the next one after an event that changes it. Any other event leaves
 * the state as it is, unless the request then gets a problem.
 */
type Table<State extends string, Event extends string> = Record<State, Partial<Record<Event, State>>>;

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
  pending: { authorized: 'ready', failed: 'invalid', expire: 'invalid' },
  ready: { failed: 'invalid', finalize: 'processing', expire: 'invalid' },
  processing: { failed: 'invalid', issue: 'valid' },
  valid: {},
  invalid: {},
};

export type AuthorizationEvent = 'validated' | 'failed' | 'deactivate' | 'expire';

const AUTHORIZATION: Table<AuthorizationStatus, AuthorizationEvent> = {
  pending: { validated: 'valid', failed: 'invalid', deactivate: 'deactivated', expire: 'expired' },
  // A later CAA check may forbid what an earlier one permitted.
  valid: { failed: 'invalid', deactivate: 'deactivated', expire: 'expired' },
  // lego deactivates failed authorizations. Boulder answers that with 200 and changes nothing.
  invalid: {},
  deactivated: {},
  expired: {},
};

/** `respond`: the client asks the server to validate. */
export type ChallengeEvent = 'respond' | 'validated' | 'failed';

const CHALLENGE: Table<ChallengeStatus, ChallengeEvent> = {
  pending: { respond: 'processing' },
  processing: { validated: 'valid', failed: 'invalid' },
  valid: {},
  invalid: {},
};

const stepIn =
  <State extends string, Event extends string>(
    noun: string,
    table: Table<State, Event>,
    problemOf: (state: State, event: Event) => ProblemType | null = () => null,
  ) =>
  (state: State, event: Event): State => {
    const next: State | undefined = table[state][event];
    const problem = next === undefined ? problemOf(state, event) : null;
    if (problem !== null) throw new AcmeError(problem, `The ${noun} is "${state}", which does not allow this.`);
    return next ?? state;
  };

/** Returns the next state. @throws AcmeError if the state refuses the event. */
export const stepOrder = stepIn('order', ORDER, (_state, event) =>
  event === 'finalize' || event === 'issue' ? 'orderNotReady' : null,
);
export const stepAuthorization = stepIn('authorization', AUTHORIZATION);
export const stepChallenge = stepIn('challenge', CHALLENGE, (state) => (state === 'pending' ? 'malformed' : null));

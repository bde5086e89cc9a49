import type {
  AcmeAccount,
  AcmeAuthorization,
  AcmeChallenge,
  AcmeFault,
  AcmeOrder,
  AuthorizationStatus,
  ChallengeStatus,
  OrderStatus,
} from '../model/acme.ts';
import { problemDocument, AcmeError, type ProblemType } from './problem.ts';

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

export const ACME_PATH = '/acme/';

/** Limit of a request body, with room for a CSR of 100 names and an RSA key; Boulder takes 50,000. */
export const REQUEST_OCTETS_MAX = 65_536;

export const directoryUrl = (origin: string, profile: string): string => `${origin}${ACME_PATH}${profile}/directory`;

export const termsUrl = (origin: string): string => `${origin}${ACME_PATH}terms`;

/** The permanent URL of an account, also used in CAA records (RFC 8657 §3); it contains no profile. */
export const accountUrl = (origin: string, id: string): string => `${origin}${ACME_PATH}account/${id}`;

/** Resources as clients get them (RFC 8555 §7.1), with URLs below an origin. */
export const orderUrl = (origin: string, id: string): string => `${origin}${ACME_PATH}order/${id}`;
export const authorizationUrl = (origin: string, id: string): string => `${origin}${ACME_PATH}authorization/${id}`;
export const challengeUrl = (origin: string, id: string, type: string): string =>
  `${origin}${ACME_PATH}challenge/${id}/${type}`;
export const certificateUrl = (origin: string, serial: string, chain = 0): string =>
  `${origin}${ACME_PATH}certificate/${serial}${chain === 0 ? '' : `/${chain}`}`;

const time = (epochMs: number): string => new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z');
const errorOf = (error: AcmeFault | undefined) => (error === undefined ? {} : { error: problemDocument(error) });

export const accountResource = (origin: string, { id, status, contact, key, externalAccountBinding }: AcmeAccount) => ({
  ...{ status, contact, key },
  ...(externalAccountBinding !== undefined && { externalAccountBinding }),
  orders: `${accountUrl(origin, id)}/orders`,
});

export const orderResource = (origin: string, order: AcmeOrder) => ({
  status: order.status,
  expires: time(order.expiresAtMs),
  identifiers: order.identifiers,
  profile: order.profile,
  authorizations: order.authorizationIds.map((id) => authorizationUrl(origin, id)),
  finalize: `${orderUrl(origin, order.id)}/finalize`,
  ...(order.replaces !== undefined && { replaces: order.replaces }),
  ...(order.serial !== undefined && { certificate: certificateUrl(origin, order.serial) }),
  ...errorOf(order.error),
});

/** The origin of resource URLs, and the CA's name in records. */
export interface Place {
  origin: string;
  issuer: string;
}

export const challengeResource = (
  { origin, issuer }: Place,
  { id, token, accountId }: AcmeAuthorization,
  challenge: AcmeChallenge,
) => ({
  ...{ type: challenge.type, url: challengeUrl(origin, id, challenge.type), status: challenge.status },
  // draft-ietf-acme-dns-persist §3.1: the record is the same for all authorizations, so there is no token.
  ...(challenge.type === 'dns-persist-01'
    ? { accounturi: accountUrl(origin, accountId), 'issuer-domain-names': [issuer] }
    : { token }),
  ...(challenge.validatedAtMs !== undefined && { validated: time(challenge.validatedAtMs) }),
  ...errorOf(challenge.error),
});

export const authorizationResource = (place: Place, authorization: AcmeAuthorization) => ({
  status: authorization.status,
  expires: time(authorization.expiresAtMs),
  identifier: authorization.identifier,
  ...(authorization.wildcard && { wildcard: true }),
  challenges: challengesOf(authorization).map((each) => challengeResource(place, authorization, each)),
});

/** A decided authorization shows only the challenge that succeeded or failed (§7.1.4). */
function challengesOf({ status, challenges }: AcmeAuthorization): readonly AcmeChallenge[] {
  const decisive = challenges.filter((each) => each.status === status);
  return decisive.length > 0 ? decisive : challenges;
}

/** When clients should renew (RFC 9773 §4.2). */
export const renewalResource = ({ startMs, endMs }: { startMs: number; endMs: number }) => ({
  suggestedWindow: { start: time(startMs), end: time(endMs) },
});

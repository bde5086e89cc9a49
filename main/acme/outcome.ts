import type { AcmeAttempt, AcmeIdentifier } from '../model/acme.ts';
import { AcmeError, type ProblemType } from './problem.ts';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { isServedByAnotherUser } from '../base/system/port-holder.ts';
import type { CaaVerdict } from '../contract/certificates.ts';

/** The subject of a validation. */
export interface Task {
  readonly identifier: AcmeIdentifier;
  /** Whether the authorization covers the wildcard below the identifier. */
  readonly wildcard: boolean;
  readonly accountUri: string;
  readonly token: string;
  /** `token.thumbprint` (RFC 8555 §8.1). */
  readonly keyAuthorization: string;
}

/** The attempts of a validation, and its error; null if it succeeded. */
export interface Outcome {
  readonly attempts: readonly AcmeAttempt[];
  readonly error: AcmeError | null;
  /** How long other orders may reuse the success, if shorter than the profile's limit. */
  readonly reuseMs?: number;
}

/** The answer to a DNS question: its values, possibly none, or why the question failed. */
export type Answered =
  | { readonly ok: true; readonly values: readonly string[]; readonly ttlSeconds?: number }
  | { readonly ok: false; readonly detail: string };

/** Time limit of one whole validation, in real milliseconds; Boulder allows 10 s for each request. */
export const VALIDATION_MS_MAX = 10_000;

export const failed = (type: ProblemType, detail: string, attempts: readonly AcmeAttempt[] = []): Outcome => ({
  attempts,
  error: new AcmeError(type, detail),
});

/** Quotes foreign text for a message: printable and truncated. */
export const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** Why a connection failed, such as `ECONNREFUSED`. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
};

/** Loopback, 127.0.0.0/8 and ::1: validations connect to no other address, even if a zone contains one. */
const LOOPBACK = /^(?:127\.(?:\d{1,3}\.){2}\d{1,3}|::1)$/;

/** The number of DNS values that an attempt shows. */
const VALUES_SHOWN = 10;

/** The number of addresses tried; few names have more. */
const ADDRESSES_MAX = 4;

export type Destinations =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly type: 'dns' | 'connection'; readonly detail: string };

/** Resolves a name and adds the DNS answer to `attempts`. IPv6 comes first, as in Boulder. */
export async function findDestinations(
  { type, value }: AcmeIdentifier,
  resolve: (hostname: string) => Promise<Answered>,
  attempts: AcmeAttempt[],
): Promise<Destinations> {
  const found: Answered = type === 'ip' ? { ok: true, values: [value] } : await resolve(value);
  if (type === 'dns') note(attempts, addressAttempt(value, found));
  if (!found.ok) return { ok: false, type: 'dns', detail: found.detail };
  if (found.values.length === 0) {
    return { ok: false, type: 'dns', detail: `${value} has neither an A nor an AAAA record.` };
  }
  const addresses = found.values.filter((address) => LOOPBACK.test(address));
  if (addresses.length === 0) {
    const detail = `${value} resolves to ${found.values.join(', ')}; validations connect only to this machine’s loopback addresses.`;
    return { ok: false, type: 'connection', detail };
  }
  return { ok: true, addresses: addresses.sort((a, b) => b.indexOf(':') - a.indexOf(':')).slice(0, ADDRESSES_MAX) };
}

/** Adds an attempt once: a redirect to the same hostname repeats the DNS question. */
function note(attempts: AcmeAttempt[], attempt: AcmeAttempt): void {
  if (attempts.some(({ what, found }) => what === attempt.what && found === attempt.found)) return;
  attempts.push(attempt);
}

const addressAttempt = (name: string, found: Answered): AcmeAttempt => ({
  what: `${name} AAAA and A`,
  found: found.ok ? found.values.slice(0, VALUES_SHOWN).join(', ') || 'no record' : found.detail,
  question: { name, type: 'A' },
});

/**
 * Connects to a server, unless it belongs to another user of this machine, who could prove control of this user's names.
 * @throws Error with the reason
 */
export async function dial(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port });
  socket.on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal });
    if (await isServedByAnotherUser(socket))
      throw new Error('the server there belongs to another user of this machine');
    // It may have hung up before its owner was known.
    if (!socket.readable || socket.readableLength > 0) throw new Error('the server did not wait for the request');
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Formats an address or hostname as the host of a URL or of `Host`. */
export const hostOf = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** The result of one remote perspective; `by` names it: `perspective 2 (192.0.2.53:53)`. */
export interface Seen<Result> {
  readonly by: string;
  readonly result: Result;
}

/** Attempts of one perspective that the explanation of an order shows. */
const ATTEMPTS_SHOWN = 5;

/** How many remote perspectives may disagree with the primary one (Baseline Requirements 3.2.2.9, as in Boulder). */
export function disagreementsAllowed(remotes: number): number {
  if (remotes < 2) return 0;
  return remotes < 6 ? 1 : 2;
}

/**
 * The result of a validation that succeeded at the primary perspective. If too many remote ones fail, it fails like
 * the first of them. The attempts show what each perspective found.
 */
export function corroborate(primary: Outcome, remotes: readonly Seen<Outcome>[]): Outcome {
  if (primary.error !== null || remotes.length === 0) return primary;
  const [first, ...others] = remotes.filter(({ result }) => result.error !== null);
  const failed = first === undefined ? 0 : 1 + others.length;
  const attempts = [
    ...primary.attempts,
    ...remotes.flatMap(attemptsOf),
    { what: 'perspectives that agree', found: countText(remotes.length, failed) },
  ];
  if (first !== undefined && failed > disagreementsAllowed(remotes.length)) {
    const { type = 'serverInternal', detail = '' } = first.result.error ?? {};
    return { attempts, error: new AcmeError(type, `${DURING} ${first.by}: ${detail}`) };
  }
  // The shortest reuse time of all perspectives applies.
  const reuses = [primary, ...remotes.map(({ result }) => result)].flatMap(({ reuseMs }) => reuseMs ?? []);
  return { attempts, error: null, ...(reuses.length > 0 && { reuseMs: Math.min(...reuses) }) };
}

/** The CAA verdict of the primary perspective; a permission is withdrawn if too many remote ones disagree. */
export function corroborateCaa(primary: CaaVerdict, remotes: readonly Seen<CaaVerdict>[]): CaaVerdict {
  if (primary.verdict !== 'allowed') return primary;
  const [first, ...others] = remotes.filter(({ result }) => result.verdict !== 'allowed');
  if (first === undefined) return primary;
  const failed = 1 + others.length;
  const { by, result } = first;
  if (failed > disagreementsAllowed(remotes.length)) {
    return { ...result, message: `${DURING} ${by}: ${result.message}` };
  }
  const disagree = `Of the remote perspectives, ${countText(remotes.length, failed)}; ${by}: ${result.message}`;
  return { ...primary, message: `${primary.message} ${disagree}` };
}

/** Let’s Encrypt's wording. */
const DURING = 'During secondary validation,';

const countText = (remotes: number, failed: number): string =>
  `${remotes - failed} of ${remotes} agree, and ${disagreementsAllowed(remotes)} may disagree`;

function attemptsOf({ by, result: { attempts, error } }: Seen<Outcome>): Outcome['attempts'] {
  const shown = attempts.slice(0, ATTEMPTS_SHOWN).map((each) => ({ ...each, what: `${by}: ${each.what}` }));
  return shown.length > 0 ? shown : [{ what: by, found: error?.detail ?? 'no request was sent' }];
}

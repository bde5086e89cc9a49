import { HOUR_MS, MINUTE_MS } from '../contract/duration.ts';
import type { EpochMs } from '../base/clock.ts';
import { nameOf, type Fault, type FaultSource } from '../model/fault.ts';
import { AcmeError } from './problem.ts';
import { type Counted, standardRateOf, tooMany } from './rates.ts';
import type { Window } from './profiles.ts';
import { ACME_PATH } from './resources.ts';
import type { HttpReply } from './validate-http.ts';

const numberOf = ({ parameters }: Fault, name: string): number => Number(parameters[name]);

/** Whether a parameter has one of these values. */
const isOneOf =
  (name: string, values: readonly string[]) =>
  ({ parameters }: Fault): boolean =>
    values.includes(String(parameters[name]));

export type AcmeFaults = ReturnType<typeof createAcmeFaults>;

/** Applies running breaks of the family `ca` to each step; the rest of the server does not know the breaks. */
export function createAcmeFaults(source: Pick<FaultSource, 'named' | 'giveBack'>, { now }: { now: () => EpochMs }) {
  /** A fault whose setting does not concern this step has no effect. */
  const find = (
    entry: string,
    names: readonly string[] = [],
    concerns: (fault: Fault) => boolean = () => true,
  ): Fault | null => {
    const fault = source.named?.(entry, names) ?? null;
    if (fault === null || concerns(fault)) return fault;
    source.giveBack(fault);
    return null;
  };

  return {
    /** Runs before a request is processed. @throws AcmeError badNonce, serverInternal (503) */
    request({ method, target }: { method: string; target: string }): void {
      if (source.named === null) return;
      const part = partOf(target);
      const down = find('ca.part-unavailable', [], isOneOf('part', ['all', part]));
      if (down !== null) {
        throw new AcmeError('serverInternal', 'The service is down for maintenance or had an internal error.', {
          status: 503,
          headers: ['Retry-After', String(numberOf(down, 'seconds'))],
          members: markOf(down),
        });
      }
      const bad = method === 'POST' ? find('ca.bad-nonces') : null;
      if (bad !== null) throw new AcmeError('badNonce', 'The nonce is unknown.', { members: markOf(bad) });
    },
    /** Changes the metadata of a directory. */
    directory<Meta extends { profiles: Record<string, string> }>(meta: Meta) {
      const gone = find('ca.profile-gone', [], isOneOf('profile', Object.keys(meta.profiles)))?.parameters['profile'];
      const profiles = Object.fromEntries(Object.entries(meta.profiles).filter(([name]) => name !== gone));
      return { ...meta, profiles, ...(find('ca.eab-demanded') !== null && { externalAccountRequired: true }) };
    },
    /** @throws AcmeError externalAccountRequired */
    newAccount(payload: Readonly<Record<string, unknown>>): void {
      const demand = payload['externalAccountBinding'] === undefined ? find('ca.eab-demanded') : null;
      if (demand === null) return;
      throw new AcmeError(
        'externalAccountRequired',
        'A new account needs "externalAccountBinding": a key that the CA has handed out.',
        { members: markOf(demand) },
      );
    },
    /** @throws AcmeError invalidProfile */
    profile(profile: string, names: readonly string[]): void {
      const gone = find('ca.profile-gone', names, isOneOf('profile', [profile]));
      if (gone === null) return;
      const detail = `There is no profile ${JSON.stringify(profile)}; the directory lists them.`;
      throw new AcmeError('invalidProfile', detail, { members: markOf(gone) });
    },
    /** Refuses as an exhausted limit does. @throws AcmeError rateLimited */
    limit(counted: readonly Counted[], names: readonly string[]): void {
      const limits = counted.map(({ limit }) => limit);
      const fault = find('ca.rate-limited', names, isOneOf('limit', limits));
      const reached = counted.find(({ limit }) => limit === fault?.parameters['limit']);
      if (fault === null || reached === undefined) return;
      const rate = standardRateOf(reached.limit);
      throw tooMany(reached, { rate, waitMs: rate.periodMs / rate.count, nowMs: now() }, markOf(fault));
    },
    /** Whether new orders ignore valid authorizations. */
    forgets: (name: string): boolean => find('ca.authorizations-not-reused', [name]) !== null,
    /** Replaces the response to a validation request. */
    arriving(url: URL, got: HttpReply): HttpReply {
      const names = [url.hostname];
      for (const [entry, replace] of ARRIVING) {
        const fault = find(entry, names);
        if (fault !== null) return { ...replace(url), brokenBy: nameOf(fault) };
      }
      return got;
    },
    /** Real milliseconds from the CSR to the certificate; 0 for immediately, `Infinity` while the break runs. */
    issuesAfterMs(names: readonly string[]): number {
      if (find('ca.order-stays-processing', names) !== null) return Infinity;
      const slow = find('ca.slow-finalize', names);
      return slow === null ? 0 : numberOf(slow, 'delayMs');
    },
    /** Whether an order still has to wait for the end of a break. */
    isStuck: (names: readonly string[]): boolean => find('ca.order-stays-processing', names) !== null,
    /** The renewal window that clients get instead, in real time. */
    renewalWindow: (names: readonly string[], realNowMs: EpochMs): Window | null =>
      find('ca.renew-now', names) === null
        ? null
        : { startMs: realNowMs - HOUR_MS, endMs: realNowMs - (HOUR_MS - MINUTE_MS) },
    /** The end of the root's validity that clients see, in real time. */
    rootEndsAtMs(names: readonly string[], realNowMs: EpochMs): EpochMs {
      const fault = find('ca.root-ending', names);
      return fault === null ? Infinity : realNowMs + numberOf(fault, 'days') * 24 * HOUR_MS;
    },
  };
}

/** A problem member beyond RFC 7807 that names the break: the client did nothing wrong. */
const markOf = (fault: Fault): Record<string, unknown> => ({ brokenOnPurpose: nameOf(fault) });

/** The replacement response of each entry. */
const ARRIVING: readonly (readonly [entry: string, replace: (url: URL) => HttpReply])[] = [
  ['ca.challenge-not-found', () => ({ status: 404, location: undefined, body: '404 page not found' })],
  ['ca.challenge-wrong-token', () => ({ status: 200, location: undefined, body: 'token-of-another-order.thumbprint' })],
  [
    'ca.challenge-redirect-without-slash',
    ({ host, pathname }) => ({ status: 301, location: `https://${host}${pathname.slice(1)}`, body: '' }),
  ],
  [
    'ca.challenge-https-loop',
    ({ host, pathname }) => ({ status: 301, location: `https://${host}${pathname}`, body: '' }),
  ],
];

/** The part of the server that a request addresses, such as `new-order`. */
function partOf(target: string): string {
  const words = (target.split('?', 1)[0] ?? '').slice(ACME_PATH.length).split('/');
  const [first = '', second = '', third = ''] = words;
  if (second === 'directory' || second === 'new-order') return second;
  return third === 'finalize' ? third : first;
}

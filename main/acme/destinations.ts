import type { Answered } from './outcome.ts';
import type { AcmeAttempt, AcmeIdentifier } from '../model/acme.ts';

/** This machine's own addresses: 127.0.0.0/8 and ::1. No validation connects to another one, whatever a zone says. */
const LOOPBACK = /^(?:127\.(?:\d{1,3}\.){2}\d{1,3}|::1)$/;

/** Of the answer of DNS, as an attempt. */
const VALUES_SHOWN = 10;

/** Addresses that are tried; a name rarely has more. */
const ADDRESSES_MAX = 4;

export type Destinations =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly type: 'dns' | 'connection'; readonly detail: string };

/** Where a name leads; the answer of DNS is added to `attempts`. IPv6 comes first, as with Boulder. */
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
    const detail = `${value} leads to ${found.values.join(', ')}; validations ask this machine’s own addresses only.`;
    return { ok: false, type: 'connection', detail };
  }
  return { ok: true, addresses: addresses.sort((a, b) => b.indexOf(':') - a.indexOf(':')).slice(0, ADDRESSES_MAX) };
}

/** A redirect to the same hostname asks again, mostly with the same answer. */
function note(attempts: AcmeAttempt[], attempt: AcmeAttempt): void {
  if (attempts.some(({ what, found }) => what === attempt.what && found === attempt.found)) return;
  attempts.push(attempt);
}

const addressAttempt = (name: string, found: Answered): AcmeAttempt => ({
  what: `${name} AAAA and A`,
  found: found.ok ? found.values.slice(0, VALUES_SHOWN).join(', ') || 'no record' : found.detail,
  question: { name, type: 'A' },
});

/** As the host of a URL or of `Host`. */
export const hostOf = (host: string): string => (host.includes(':') ? `[${host}]` : host);

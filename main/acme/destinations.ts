import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { isServedByAnotherUser } from '../base/system/port-holder.ts';
import type { Answered } from './outcome.ts';
import type { AcmeAttempt, AcmeIdentifier } from '../model/acme.ts';

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

import { resolve4 } from 'node:dns/promises';
import { silentLog } from '../../base/log.ts';
import type { DomainName } from '../../model/dns-name.ts';
import { RCODES, TYPE_CODES, type RecordData } from '../wire/record.ts';
import { createExchange, type Exchange } from './exchange.ts';
import { guard, HEADER_OCTETS } from '../wire/message-guard.ts';
import { MESSAGE_OCTETS_MAX } from '../wire/message-writer.ts';
import { NAME_SERVER } from '../zones/own-zones.ts';
import { ZoneSet } from '../zones/zone-set.ts';
import { createZone } from '../zones/zone.ts';
import type { Strikes, Struck } from './strike.ts';
import { readResponse } from '../wire/message-reader.ts';

export const DNS_MESSAGE = 'application/dns-message';

/** The bit QR of the header (RFC 1035 §4.1.1). */
const RESPONSE = 0x8000;

/** The parts of an HTTP request that this decides by. */
export interface DohRequest {
  method: string;
  /** Path and query. */
  target: string;
  scheme: 'http' | 'https';
  /** `Host` or `:authority`. */
  authority: string;
  contentType: string | undefined;
  origin: string | undefined;
  /** `Sec-Fetch-Site`. */
  fetchSite: string | undefined;
}

export interface Refused {
  status: number;
  /** A sentence. */
  reason: string;
}

/** A message to answer, a message to read from the body, or the reason for a refusal. */
export type DohQuery = CheckedQuery | { kind: 'body' };
export type CheckedQuery = { kind: 'message'; message: Buffer } | ({ kind: 'refused' } & Refused);

/**
 * Reads a request of DNS over HTTPS (RFC 8484 §4.1). Web pages cannot use the endpoint, because its answers would
 * reveal which hostnames exist.
 */
export function readDohRequest(request: DohRequest): DohQuery {
  const { method, target, scheme, authority, contentType, origin, fetchSite } = request;
  const refused = (status: number, reason: string): DohQuery => ({ kind: 'refused', status, reason });
  const foreign = origin !== undefined && origin.toLowerCase() !== `${scheme}://${authority.toLowerCase()}`;
  const byPage = fetchSite !== undefined && fetchSite !== 'none' && fetchSite !== 'same-origin';
  if (foreign || byPage) return refused(403, 'Web pages can’t ask this DNS server; browsers ask it themselves.');
  if (scheme === 'http') return refused(403, 'DNS over HTTPS is at the HTTPS port.');
  if (method === 'POST') {
    if (contentType?.split(';', 1)[0]?.trim().toLowerCase() === DNS_MESSAGE) return { kind: 'body' };
    return refused(415, `The body of a POST is a DNS message, with Content-Type: ${DNS_MESSAGE}.`);
  }
  if (method !== 'GET') return refused(405, 'DNS messages are sent with GET or POST.');
  const encoded = new URLSearchParams(target.split('?')[1] ?? '').getAll('dns');
  const [text = ''] = encoded;
  // RFC 4648 §5, without padding: a last group of one character encodes nothing.
  if (encoded.length !== 1 || !/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) {
    return refused(400, 'A GET has one parameter "dns": the DNS message in base64url, without padding (RFC 8484).');
  }
  return checkDohMessage(Buffer.from(text, 'base64url'));
}

/** The message of a body or parameter, if it is plausible. */
export function checkDohMessage(message: Buffer): CheckedQuery {
  if (message.length > MESSAGE_OCTETS_MAX) {
    return { kind: 'refused', status: 413, reason: `A DNS message has at most ${MESSAGE_OCTETS_MAX} octets.` };
  }
  const isQuery = message.length >= HEADER_OCTETS && (message.readUInt16BE(2) & RESPONSE) === 0;
  return !isQuery ? { kind: 'refused', status: 400, reason: 'This is not a DNS query.' } : { kind: 'message', message };
}

/** The names with which browsers probe a server, and the answers (measured, see README). */
const FIREFOX_PROBE = { name: 'example.com', type: TYPE_CODES.NS };
const CHROMIUM_PROBE = { name: 'www.gstatic.com', type: TYPE_CODES.A };

/** A documentation address (RFC 5737): browsers accept any address. */
const NOWHERE = '192.0.2.1';

/** How long a request waits for an answer that a break withholds; most clients give up after 5 s. */
const SILENT_MS = 10_000;

/** The HTTP status for a resolver without an answer (RFC 8484 §4.2.1 leaves the choice to HTTP). */
export const SILENT = 'silent';

export interface DohAnswer {
  message: Buffer;
  /** Seconds for which a client may cache it (RFC 8484 §5.1). */
  maxAgeSeconds: number;
}

/**
 * Answers as `exchange` does over UDP, with the size limit of TCP. It also answers the names that browsers probe with,
 * because they would not use the server otherwise. With `forwardsProbe`, the system resolves Chromium's name, which is
 * in real use; nothing else ever leaves this machine.
 */
export function createDoh(options: {
  exchange: Exchange;
  strikes: Pick<Strikes, 'strike' | 'later'>;
  forwardsProbe: () => boolean;
}): (message: Buffer) => DohAnswer | null | Promise<DohAnswer | typeof SILENT> {
  const { strikes } = options;

  function broken({ reply, delayMs }: Struck): Promise<DohAnswer | typeof SILENT> {
    return new Promise((resolve) => {
      const send = () => resolve(reply === null ? SILENT : aged(reply));
      const waitMs = reply === null ? SILENT_MS : delayMs;
      if (waitMs === 0) send();
      else if (!strikes.later(waitMs, send)) resolve(SILENT);
    });
  }

  async function probed(message: Buffer): Promise<Buffer | null> {
    const guarded = guard(message);
    if (guarded.kind !== 'query') return null;
    const { question } = guarded;
    const isFor = (probe: { name: string; type: number }) =>
      question.name === probe.name && question.type === probe.type;
    if (isFor(FIREFOX_PROBE)) return answerWith(message, question.name, 3600, [{ type: 'NS', target: NAME_SERVER }]);
    if (!isFor(CHROMIUM_PROBE)) return null;
    const found = options.forwardsProbe() ? await resolve4(question.name, { ttl: true }).catch(() => []) : [];
    const ttl = Math.min(...found.map((each) => each.ttl));
    const addresses = found.length === 0 ? [NOWHERE] : found.map(({ address }) => address);
    const data = addresses.map((address) => ({ type: 'A' as const, address }));
    return answerWith(message, question.name, found.length === 0 ? 0 : ttl, data);
  }

  return (message) => {
    const struck = strikes.strike(message, 'https');
    if (struck !== null) return broken(struck);
    const reply = options.exchange(message, 'udp');
    if (reply === null || reply.length < HEADER_OCTETS) return withAge(reply);
    const flags = reply.readUInt16BE(2);
    if ((flags & 0x0200) !== 0) return withAge(options.exchange(message, 'tcp'));
    if ((flags & 0xf) !== RCODES.REFUSED) return withAge(reply);
    return probed(message).then((answer) => aged(answer ?? reply));
  };
}

const aged = (reply: Buffer): DohAnswer => ({ message: reply, maxAgeSeconds: maxAgeOf(reply) });
const withAge = (reply: Buffer | null): DohAnswer | null => (reply === null ? null : aged(reply));

function answerWith(message: Buffer, apex: DomainName, ttlSeconds: number, data: readonly RecordData[]): Buffer | null {
  const zones = new ZoneSet();
  const records = data.map((each) => ({ name: apex, ttlSeconds, data: each }));
  zones.put(createZone({ apex, nameServer: NAME_SERVER, records }));
  return createExchange({ zones: () => zones, log: silentLog })(message, 'udp');
}

/** The lowest TTL of the answer; of a negative one, that of its SOA. Errors are not kept. */
function maxAgeOf(reply: Buffer): number {
  const read = readResponse(reply);
  if (read === null || (read.rcode !== RCODES.NOERROR && read.rcode !== RCODES.NXDOMAIN)) return 0;
  const { answer, authority } = read;
  const ttls = (answer.length > 0 ? answer : authority).map(({ ttlSeconds }) => ttlSeconds);
  return ttls.length === 0 ? 0 : Math.min(...ttls);
}

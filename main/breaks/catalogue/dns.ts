import type { BreakEntry, BreakParameter } from '../../contract/breaks.ts';
import { entryOf, everywhere } from './entry.ts';

/** Unless its text says otherwise, a fault applies to UDP, TCP and HTTPS alike, and its records have TTL 0. */
const entry = entryOf('dns', ['hostname', 'type']);

const kept: BreakParameter = {
  name: 'ttlSeconds',
  description: 'how long resolvers keep the wrong answer, in seconds',
  default: 300,
  min: 0,
  max: 86_400,
};

/** Messages of clients that get no address; `python`, `java` and Node’s `lookup` use the system’s resolver. */
const unresolved = (dig: string, errno: string, reason: string) => ({
  dig,
  curl: 'curl: (6) Could not resolve host: HOST',
  chromium: 'ERR_NAME_NOT_RESOLVED',
  python: `gaierror: [Errno ${errno}] ${reason}`,
  java: `java.net.UnknownHostException: HOST: ${reason}`,
});
const notFound = (dig: string, resolve4: string, errno = '-2', reason = 'Name or service not known') => ({
  ...unresolved(dig, errno, reason),
  go: 'lookup HOST on 127.0.0.1:53: no such host',
  node: `resolve4: ${resolve4}; lookup: ENOTFOUND`,
});
const tryAgain = (dig: string, resolve4: string, go: string) => ({
  ...unresolved(dig, '-3', 'Temporary failure in name resolution'),
  node: `resolve4: ${resolve4}; lookup: EAI_AGAIN`,
  go: `lookup HOST on 127.0.0.1:53: ${go}`,
});
const undisturbed = (after = '') => ({
  curl: `200${after}`,
  chromium: `200${after}`,
  node: `resolve4: 127.0.0.1; lookup: ::1${after}`,
  python: `127.0.0.1, ::1${after}`,
  java: `0:0:0:0:0:0:0:1, 127.0.0.1${after}`,
  go: `127.0.0.1, ::1${after}`,
});
const NO_VALIDATION = 'resolves as before: it does not validate';

/** DNS faults. `HOST` is the hostname; `test/integration/breaks/dns.clients.test.ts` tests the symptoms. */
export const DNS_ENTRIES: readonly BreakEntry[] = [
  entry('nxdomain', {
    title: 'DNS: no such name (NXDOMAIN)',
    cause: 'The record was deleted, never created, or created in another zone: the server answers NXDOMAIN.',
    symptoms: notFound('NXDOMAIN; 0 SOA; Broken on purpose: dns.nxdomain', 'ENOTFOUND'),
    remedy: 'Create the record in the zone that the name servers serve, and check its name for typing errors.',
  }),
  entry('nodata', {
    title: 'DNS: no record of this type (NODATA)',
    cause: 'The name has records of other types only, such as a TXT: the server answers NOERROR without data.',
    symptoms: notFound(
      'NOERROR; 0 SOA; Broken on purpose: dns.nodata',
      'ENODATA',
      '-5',
      'No address associated with hostname',
    ),
    remedy: 'Add the missing type: A and AAAA, or a CNAME where the name has nothing else.',
  }),
  entry('servfail', {
    title: 'DNS: the server fails (SERVFAIL)',
    cause:
      'A resolver got no usable answer: the name servers are down, an ALIAS is broken, or DNSSEC signatures are wrong.',
    symptoms: tryAgain('SERVFAIL; Broken on purpose: dns.servfail', 'ESERVFAIL', 'server misbehaving'),
    remedy: 'Query each name server of the zone and compare; read the extended error that dig shows (RFC 8914).',
  }),
  entry('refused', {
    title: 'DNS: the server refuses (REFUSED)',
    cause: 'The server does not have the zone, or an access list excludes the client.',
    symptoms: tryAgain('REFUSED; Broken on purpose: dns.refused', 'EREFUSED', 'server misbehaving'),
    remedy: 'Query a server that has the zone, or permit the client there.',
  }),
  entry('silence', {
    title: 'DNS: no answer',
    cause: 'A firewall drops packets to port 53, or the name server is down. Over HTTPS, the answer is 504 after 10 s.',
    symptoms: tryAgain(
      'communications error to 127.0.0.1#53: timed out; no servers could be reached',
      'ETIMEOUT',
      'read udp 127.0.0.1->127.0.0.1:53: i/o timeout',
    ),
    remedy: 'Open port 53 for UDP and TCP; give clients a second resolver and their own timeout for lookups.',
  }),
  entry('slow', {
    title: 'DNS: a late answer',
    cause: 'The name server is distant, overloaded or rate-limiting. Clients repeat the query meanwhile.',
    symptoms: { dig: 'NOERROR; 60 A 127.0.0.1, after the delay', ...undisturbed(', after the delay') },
    remedy:
      'Cache answers in the client or in a nearby resolver, and keep connections open instead of resolving again.',
    parameters: [
      {
        name: 'delayMs',
        description: 'the delay in milliseconds; most clients give up after 5 s',
        default: 3_000,
        min: 1,
        max: 30_000,
      },
    ],
  }),
  entry('truncated', {
    title: 'Truncated, and TCP is closed',
    cause: 'The answer does not fit into a datagram, and a firewall permits only UDP. Over HTTPS nothing is broken.',
    symptoms: tryAgain(
      'Truncated, retrying in TCP mode.; communications error to 127.0.0.1#53: end of file; no servers could be reached',
      'ECONNREFUSED',
      'EOF',
    ),
    remedy: 'Open TCP port 53 (RFC 7766), or make the answer smaller.',
  }),
  entry('tcp-only', {
    title: 'Answers over TCP only',
    cause:
      'The answer does not fit into a datagram, so clients must repeat the query over TCP; simple ones, such as musl before 1.2.4, do not. Over HTTPS nothing is broken.',
    symptoms: { dig: 'Truncated, retrying in TCP mode.; NOERROR; 60 A 127.0.0.1', ...undisturbed() },
    remedy: 'Use a client that retries over TCP after a truncated reply, or make the answer smaller.',
  }),
  entry('lame-delegation', {
    title: 'A lame delegation',
    cause: 'NS records name a server that does not serve the zone: ns1.lame.invalid, which does not exist.',
    symptoms: tryAgain(
      'NOERROR; 0 NS ns1.lame.invalid.; Broken on purpose: dns.lame-delegation',
      'ENODATA',
      'lame referral',
    ),
    remedy: 'Set the NS records at the registrar or in the parent zone to those of the provider that has the zone.',
  }),
  entry('cname-loop', {
    title: 'CNAMEs in a loop',
    cause: 'Two CNAMEs point to each other, mostly after an incomplete move between names.',
    symptoms: notFound('NOERROR; 0 CNAME loop.HOST.; 0 CNAME HOST.; Broken on purpose: dns.cname-loop', 'no address'),
    remedy: 'Point one of the names directly to the target.',
  }),
  entry('chain-too-long', {
    title: 'A chain of too many CNAMEs',
    cause: 'Seventeen CNAMEs form a chain, one for each provider in between; resolvers give up after 8 to 16.',
    symptoms: notFound(
      'NOERROR; 0 CNAME hop1.HOST.; 0 CNAME hop2.HOST.; 15 more; Broken on purpose: dns.chain-too-long',
      'no address',
    ),
    remedy: 'Point the name directly to the last target.',
  }),
  entry('cname-at-apex', {
    title: 'A CNAME at the apex',
    cause:
      'The apex of the zone has a CNAME to the platform, which hides its SOA, NS, MX and TXT (RFC 1034 §3.6.2). Only queries for the apex are affected.',
    symptoms: {
      dig: 'NOERROR; 0 CNAME cname.vivarium.localhost.; 0 SOA; Broken on purpose: dns.cname-at-apex (for MX)',
      ...undisturbed(),
    },
    remedy: 'Replace the CNAME with an ALIAS or ANAME, or with A and AAAA records; the MX is then found again.',
  }),
  entry('dangling-cname', {
    title: 'A CNAME to a deleted name',
    cause:
      'The platform’s resource was deleted, but the CNAME was not. On some platforms, another customer could claim the target.',
    symptoms: notFound(
      'NXDOMAIN; 0 CNAME removed.cname.vivarium.localhost.; 0 SOA; Broken on purpose: dns.dangling-cname',
      'ENOTFOUND',
    ),
    remedy: 'Delete the CNAME, or point it to a target that you own; delete DNS records before the resource.',
  }),
  entry('ipv6-black-hole', {
    title: 'An IPv6 address that leads nowhere',
    cause: 'An AAAA record is left over from an old server. Only AAAA queries are affected.',
    symptoms: {
      dig: 'NOERROR; 0 AAAA 2001:db8::dead; 0 AAAA ::1; Broken on purpose: dns.ipv6-black-hole (for AAAA)',
      ...undisturbed(),
      python: '127.0.0.1, 2001:db8::dead, ::1',
      java: '0:0:0:0:0:0:0:1, 127.0.0.1, 2001:db8:0:0:0:0:0:dead',
      go: '127.0.0.1, 2001:db8::dead, ::1',
    },
    remedy:
      'Delete the AAAA record. Clients should try both address families in parallel (RFC 8305); others wait for a timeout.',
  }),
  entry('resolvers-disagree', {
    title: 'Two resolvers disagree',
    cause:
      'One resolver still has the old address, as its TTL permits: every second answer is 192.0.2.10 or 2001:db8::10.',
    symptoms: {
      dig: 'NOERROR; 300 A 192.0.2.10; Broken on purpose: dns.resolvers-disagree',
      curl: "curl: (7) Failed to connect to HOST port 80 after … ms: Couldn't connect to server",
      chromium: 'ERR_ADDRESS_UNREACHABLE',
      node: 'resolve4: 192.0.2.10; lookup: 2001:db8::10',
      python: '192.0.2.10, 2001:db8::10',
      java: '192.0.2.10, 2001:db8:0:0:0:0:0:10',
      go: '192.0.2.10, 2001:db8::10',
    },
    remedy:
      'Wait for the TTL. Before the next change, lower the TTL in advance, and keep the old server until the old TTL has passed.',
    parameters: [kept],
  }),
  entry('negative-caching', {
    title: 'The absence is cached',
    cause:
      'The name was queried before the record was created: resolvers cache “no such name” as long as the SOA permits (RFC 2308), even after the repair.',
    symptoms: notFound('NXDOMAIN; 300 SOA; Broken on purpose: dns.negative-caching', 'ENOTFOUND'),
    remedy: 'Wait for the SOA’s negative TTL, or clear the cache; create records before they are first queried.',
    parameters: [kept],
  }),
  entry('formerr-edns', {
    title: 'FORMERR to EDNS',
    cause: 'An old name server or middlebox does not support EDNS (RFC 6891). Queries without EDNS are answered.',
    symptoms: {
      dig: "WARNING: EDNS query returned status FORMERR - retry with '+noedns'; FORMERR",
      ...undisturbed(),
      go: 'lookup HOST on 127.0.0.1:53: server misbehaving',
    },
    remedy: 'Replace the server or middlebox. Few resolvers still retry without EDNS (DNS Flag Day 2019).',
  }),
  entry('badvers', {
    title: 'BADVERS to EDNS',
    cause: 'The name server claims not to support version 0 of EDNS. Queries without EDNS are answered.',
    symptoms: {
      dig: 'BADVERS; Broken on purpose: dns.badvers',
      ...undisturbed(),
      go: 'lookup HOST on 127.0.0.1:53: lame referral',
    },
    remedy: 'Replace or update the name server.',
  }),
  entry('zone-doubled', {
    title: 'The zone is in the name twice',
    cause:
      'The full name was entered in a field that is relative to the zone: HOST does not exist, but HOST with the zone appended does.',
    symptoms: notFound(
      'NXDOMAIN; 0 SOA; Broken on purpose: dns.zone-doubled. HOST.HOST: NOERROR; 0 A 127.0.0.1; Broken on purpose: dns.zone-doubled',
      'ENOTFOUND',
    ),
    remedy: 'Enter the name without the zone, or end it with a dot.',
  }),
  ...(['expired', 'missing'] as const).map((broken) =>
    entry(`dnssec-${broken}`, {
      title: broken === 'expired' ? 'DNSSEC signatures have expired' : 'DNSSEC signatures are missing',
      cause:
        broken === 'expired'
          ? 'The zone was not re-signed in time. The zone must be signed in Vivarium: `zones.dnssec`.'
          : 'The zone has moved to servers that do not sign, but its DS record remained. The zone must be signed in Vivarium: `zones.dnssec`.',
      symptoms: {
        dig: 'NOERROR; behind unbound, which validates: SERVFAIL',
        ...everywhere(NO_VALIDATION),
        ...{ chromium: NO_VALIDATION, java: NO_VALIDATION },
      },
      remedy:
        broken === 'expired'
          ? 'Sign the zone again, and monitor when its signatures expire.'
          : 'Remove the DS record first, wait for its TTL, and only then stop signing; or sign at the new servers.',
      selectors: ['hostname'],
      at: 'state',
    }),
  ),
];

/** A record type: its number on the wire (IANA, DNS parameters) and help for typing one. */
interface TypeFacts {
  /** Null for what the server replaces by the target's addresses. */
  code: number | null;
  /** The meaning of the value, in a sentence. */
  hint: string;
  /** A value. */
  example: string;
}

/** All types that have their own form here, most common first; all others are written as TYPE65280 (RFC 3597). */
export const RECORD_TYPES = {
  A: { code: 1, hint: 'An IPv4 address.', example: '192.0.2.1' },
  AAAA: { code: 28, hint: 'An IPv6 address.', example: '2001:db8::1' },
  CNAME: {
    code: 5,
    hint: 'Another name to look up instead. Its name can have no other records, and the apex (@) can’t have one.',
    example: 'cname.vivarium.localhost',
  },
  ALIAS: {
    code: null,
    hint: 'A name whose addresses are answered here, also at the zone’s own name (@).',
    example: 'cname.vivarium.localhost',
  },
  ANAME: { code: null, hint: 'The same as ALIAS, as some providers call it.', example: 'cname.vivarium.localhost' },
  TXT: { code: 16, hint: 'The plain text, without quotes; at most 4,096 octets.', example: 'v=spf1 -all' },
  CAA: {
    code: 257,
    hint: 'Flags, tag and value. “issue” names who may sign, “issuewild” who may sign wildcards; ";" allows no CA.',
    example: '0 issue "vivarium.localhost"',
  },
  MX: { code: 15, hint: 'Preference and mail server; the lowest number is tried first.', example: '10 mail.example' },
  NS: {
    code: 2,
    hint: 'The name server that this name is delegated to; at @, a name server of the zone in place of Vivarium’s.',
    example: 'ns1.example',
  },
  SOA: {
    code: 6,
    hint: 'At @ only: primary server, mailbox, serial (only a zone file’s counts), refresh, retry, expire, negative TTL.',
    example: 'ns1.example hostmaster.example 1 7200 900 1209600 300',
  },
  HTTPS: {
    code: 65,
    hint: 'How browsers reach this name: priority, server (. for the name itself), and parameters. 0 and a name: an alias.',
    example: '1 . alpn=h2,http/1.1 port=8443',
  },
  SVCB: {
    code: 64,
    hint: 'The same as HTTPS for other services: priority, server, and parameters.',
    example: '1 dns.example alpn=h2 dohpath=/dns-query{?dns}',
  },
  SRV: { code: 33, hint: 'Priority, weight, port and host of a service.', example: '0 5 443 host.example' },
  PTR: { code: 12, hint: 'The name of an address, in a reverse zone.', example: 'host.example' },
  DNAME: { code: 39, hint: 'Another name for everything below this one.', example: 'other.example' },
  DS: {
    code: 43,
    hint: 'Key tag, algorithm, digest type and digest of a delegated zone’s key.',
    example: '60485 8 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A',
  },
  TLSA: {
    code: 52,
    hint: 'Usage, selector, matching type and data of a certificate.',
    example: '3 1 1 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A',
  },
  SSHFP: {
    code: 44,
    hint: 'Algorithm, type and fingerprint of an SSH host key.',
    example: '4 2 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A',
  },
  NAPTR: {
    code: 35,
    hint: 'Order, preference, flags, services, expression and replacement.',
    example: '100 10 "S" "SIP+D2U" "" _sip._udp.example',
  },
  LOC: {
    code: 29,
    hint: 'Latitude, longitude, altitude, and optionally size and precisions.',
    example: '52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m',
  },
  SMIMEA: {
    code: 53,
    hint: 'Usage, selector, matching type and data of a mail address’s certificate.',
    example: '3 1 1 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A',
  },
  OPENPGPKEY: { code: 61, hint: 'The OpenPGP key of a mail address, in base64.', example: 'mDMEZbqXThYJKwYBBAHaRw8=' },
  CERT: {
    code: 37,
    hint: 'Type (PKIX, PGP or a number), key tag, algorithm, and the certificate in base64.',
    example: 'PKIX 0 0 MIIBszCCAVmgAwIBAgIU',
  },
  URI: { code: 256, hint: 'Priority, weight and URI of a service.', example: '10 1 "https://www.example/path"' },
  RP: {
    code: 17,
    hint: 'The mailbox of a person, and the name of a TXT about them.',
    example: 'anna.example info.example',
  },
  HINFO: { code: 13, hint: 'A processor and an operating system.', example: '"CPU" "OS"' },
} as const satisfies Record<string, TypeFacts>;

export type NamedType = keyof typeof RECORD_TYPES;

export const NAMED_TYPES = Object.keys(RECORD_TYPES) as NamedType[];

/** A type without a name here, by its number (RFC 3597 §5). */
export type NumberedType = `TYPE${number}`;

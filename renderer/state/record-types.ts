import type { RecordInfo } from '../../main/contract/zones.ts';

type RecordType = RecordInfo['type'];

/** Help for typing a record of a type. */
interface TypeHint {
  /** The meaning of the value, in a sentence. */
  hint: string;
  placeholder: string;
}

/** Most common first. */
export const RECORD_TYPES: Record<RecordType, TypeHint> = {
  A: { hint: 'An IPv4 address.', placeholder: '192.0.2.1' },
  AAAA: { hint: 'An IPv6 address.', placeholder: '2001:db8::1' },
  CNAME: {
    hint: 'Another name to look up instead. Its name can have no other records, and the apex (@) can’t have one.',
    placeholder: 'cname.vivarium.localhost',
  },
  ALIAS: {
    hint: 'A name whose addresses are answered here, also at the zone’s own name (@).',
    placeholder: 'cname.vivarium.localhost',
  },
  ANAME: { hint: 'The same as ALIAS, as some providers call it.', placeholder: 'cname.vivarium.localhost' },
  TXT: { hint: 'The plain text, without quotes; at most 4,096 octets.', placeholder: 'v=spf1 -all' },
  CAA: {
    hint: 'Flags, tag and value. “issue” names who may sign, “issuewild” who may sign wildcards; ";" allows no CA.',
    placeholder: '0 issue "vivarium.localhost"',
  },
  MX: { hint: 'Preference and mail server; the lowest number is tried first.', placeholder: '10 mail.example' },
  NS: {
    hint: 'The name server that this name is delegated to; at @, a name server of the zone in place of Vivarium’s.',
    placeholder: 'ns1.example',
  },
  SOA: {
    hint: 'At @ only: primary server, mailbox, serial (the server counts its own), refresh, retry, expire, negative TTL.',
    placeholder: 'ns1.example hostmaster.example 1 7200 900 1209600 300',
  },
};

export const RECORD_TYPE_NAMES = Object.keys(RECORD_TYPES) as RecordType[];

/** Types allowed in a query, most common first. ALIAS is queried as A or AAAA. */
export const QUESTION_TYPES = ['A', 'AAAA', 'CNAME', 'CAA', 'TXT', 'MX', 'NS', 'SOA', 'SRV', 'PTR', 'ANY'] as const;

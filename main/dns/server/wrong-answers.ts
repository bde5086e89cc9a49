import { CNAME_TARGET } from '../../base/config.ts';
import { BROKEN_ON_PURPOSE } from '../../model/dns-lookup.ts';
import { isAtOrBelow, NAME_OCTETS_MAX, ROOT, wireLength, type DomainName } from '../../model/dns-name.ts';
import { type Fault, nameOf } from '../../model/fault.ts';
import { DETAIL_CODES, emptyAnswer, TYPE_CODES } from '../wire/record.ts';
import type { DnsAnswer, Question, RecordData, RRset } from '../wire/record.ts';
import { answer } from './responder.ts';
import type { ZoneIndex } from '../zones/zone-index.ts';
import { zoneAsked, type ZoneSet } from '../zones/zone-set.ts';

/** A break's effect on one question. */
export type Wrong =
  /** Content that replaces the right answer, and may include it. */
  | { kind: 'answer'; answer: (right: DnsAnswer) => DnsAnswer }
  | { kind: 'silence' }
  /** The right answer, too late. */
  | { kind: 'slow'; delayMs: number }
  /** No answer fits a datagram; over TCP, the answer is sent or not. */
  | { kind: 'truncated'; overTcp: boolean }
  /** Refuses clients with EDNS, with an OPT in the reply (BADVERS) or without it (FORMERR). */
  | { kind: 'edns'; rcode: 'FORMERR' | 'BADVERS' };

/** Documentation addresses, which lead nowhere (RFC 5737, RFC 3849). */
const OLD_ADDRESSES = { A: '192.0.2.10', AAAA: '2001:db8::10' } as const;
const BLACK_HOLE = '2001:db8::dead';

const OTHER_CA: RecordData = { type: 'CAA', flags: 0, tag: 'issue', value: 'other-ca.example' };

/** RFC 2606 §2: no such server. */
const LAME_SERVER = 'ns1.lame.invalid';

/** A name of the platform that no project can have: theirs are one label shorter. */
export const REMOVED_TARGET = `removed.${CNAME_TARGET}`;

/** Resolvers stop between 8 and 16. */
const CHAIN_LENGTH = 17;

type Maker = (asked: Asked) => Wrong | null;

interface Asked {
  fault: Fault;
  zones: ZoneSet;
  zone: ZoneIndex;
  question: Question;
  /** The question's name in lower case. */
  name: DomainName;
}

/** The fault's effect on the question; null if the entry does not affect it, such as an A for the IPv6 black hole. */
export function wrongAnswer(
  fault: Fault,
  { zones, zone, question }: { zones: ZoneSet; zone: ZoneIndex; question: Question },
): Wrong | null {
  const make = WRONG_ANSWERS[fault.entry];
  return make === undefined ? null : make({ fault, zones, zone, question, name: question.name.toLowerCase() });
}

/** `shop.acme.test` for the question `shop.acme.test.acme.test`; null for any other name. */
export function undoubled(zone: ZoneIndex, name: DomainName): DomainName | null {
  if (zone.apex === ROOT || !name.endsWith(`.${zone.apex}`)) return null;
  const inner = name.slice(0, -zone.apex.length - 1);
  return isAtOrBelow(inner, zone.apex) ? inner : null;
}

export const WRONG_ANSWERS: Readonly<Record<string, Maker>> = {
  'dns.nxdomain': ({ zone }) => replaced(negative(zone, 'NXDOMAIN', 0)),
  'dns.nodata': ({ zone }) => replaced(negative(zone, 'NOERROR', 0)),
  'dns.negative-caching': ({ zone, fault }) => replaced(negative(zone, 'NXDOMAIN', secondsOf(fault))),
  'dns.servfail': () => replaced(emptyAnswer('SERVFAIL', false)),
  'dns.refused': () => replaced(emptyAnswer('REFUSED', false)),
  'dns.silence': () => ({ kind: 'silence' }),
  'dns.slow': ({ fault }) => ({ kind: 'slow', delayMs: numberOf(fault, 'delayMs') }),
  'dns.truncated': () => ({ kind: 'truncated', overTcp: false }),
  'dns.tcp-only': () => ({ kind: 'truncated', overTcp: true }),
  'dns.formerr-edns': () => ({ kind: 'edns', rcode: 'FORMERR' }),
  'dns.badvers': () => ({ kind: 'edns', rcode: 'BADVERS' }),
  'dns.lame-delegation': ({ name }) => replaced(referral(name)),
  'dns.cname-loop': ({ name }) => replaced(chainOf([name, `loop.${name}`, name])),
  'dns.chain-too-long': ({ name }) => {
    const names = Array.from({ length: CHAIN_LENGTH }, (_, index) => `hop${index + 1}.${name}`);
    return replaced(chainOf([name, ...names]));
  },
  'dns.cname-at-apex': ({ zones, zone, question, name }) => {
    if (name !== zone.apex) return null;
    const target = answer(zones, { ...question, name: CNAME_TARGET });
    const { answer: cname } = chainOf([name, CNAME_TARGET]);
    return replaced({ ...target, answer: [...cname, ...target.answer], authority: target.authority.map(uncached) });
  },
  'dns.dangling-cname': ({ zones, question, name }) => {
    const end = answer(zones, { ...question, name: REMOVED_TARGET });
    return replaced({ ...chainOf([name, REMOVED_TARGET]), rcode: end.rcode, authority: end.authority.map(uncached) });
  },
  'dns.ipv6-black-hole': ({ question, name }) => {
    if (question.type !== TYPE_CODES.AAAA) return null;
    const hole = rrset(name, { type: 'AAAA', address: BLACK_HOLE });
    return {
      kind: 'answer',
      answer: (right) => {
        const own = right.answer.find(({ type }) => type === 'AAAA');
        if (own === undefined) return { ...emptyAnswer('NOERROR', true), answer: [hole] };
        const data = [...hole.data, ...own.data];
        return { ...right, answer: right.answer.map((each) => (each === own ? { ...uncached(own), data } : each)) };
      },
    };
  },
  'dns.resolvers-disagree': ({ question, name, fault }) => {
    const type = question.type === TYPE_CODES.A ? 'A' : question.type === TYPE_CODES.AAAA ? 'AAAA' : null;
    if (type === null || fault.draw >= 0.5) return null;
    const ttlSeconds = secondsOf(fault);
    const old = { ...rrset(name, { type, address: OLD_ADDRESSES[type] }), ttlSeconds };
    return replaced({ ...emptyAnswer('NOERROR', true), answer: [old] });
  },
  'dns.zone-doubled': ({ zones, zone, question, name }) => {
    const inner = undoubled(zone, name);
    if (inner === null) return replaced(negative(zone, 'NXDOMAIN', 0));
    const moved = answer(zones, { ...question, name: inner });
    const owned = moved.answer.map((each) => (each.name === inner ? { ...uncached(each), name } : each));
    return replaced({ ...moved, answer: owned });
  },
  'domain.caa-lookup-failed': ({ question }) => caaFails(question),
  'ca.caa-servfail': ({ question }) => caaFails(question),
  'ca.caa-forbids': ({ question, name }) =>
    question.type === TYPE_CODES.CAA ? { kind: 'answer', answer: (right) => withOtherCa(name, right) } : null,
};

/** If the name has a CNAME, the record of its target: a record cannot be beside a CNAME. */
function withOtherCa(name: DomainName, right: DnsAnswer): DnsAnswer {
  const aliases = right.answer.filter(({ type }) => type === 'CNAME').map(uncached);
  const last = aliases.at(-1)?.data[0];
  const owner = last?.type === 'CNAME' ? last.target : name;
  return { ...emptyAnswer('NOERROR', true), answer: [...aliases, rrset(owner, OTHER_CA)] };
}

const caaFails = (question: Question): Wrong | null =>
  question.type === TYPE_CODES.CAA ? replaced(emptyAnswer('SERVFAIL', false)) : null;

const replaced = (wrong: DnsAnswer): Wrong => ({ kind: 'answer', answer: () => wrong });

/** TTL 0, so that resolvers ask again after the repair. */
const rrset = (name: DomainName, data: RecordData): RRset => ({ name, type: data.type, ttlSeconds: 0, data: [data] });

const uncached = (each: RRset): RRset => ({ ...each, ttlSeconds: 0 });

const negative = (zone: ZoneIndex, rcode: 'NXDOMAIN' | 'NOERROR', ttlSeconds: number): DnsAnswer => ({
  ...emptyAnswer(rcode, true),
  authority: [{ ...zone.negative, ttlSeconds }],
});

/** A chain of CNAMEs, as long as names have room for its labels. */
function chainOf(names: readonly DomainName[]): DnsAnswer {
  const chain = names.slice(1).flatMap((target, index) => {
    const owner = names[index] ?? ROOT;
    const fits = wireLength(target) <= NAME_OCTETS_MAX && wireLength(owner) <= NAME_OCTETS_MAX;
    return fits ? [rrset(owner, { type: 'CNAME', target })] : [];
  });
  return { ...emptyAnswer('NOERROR', true), answer: chain };
}

const referral = (name: DomainName): DnsAnswer => ({
  ...emptyAnswer('NOERROR', false),
  authority: [rrset(name, { type: 'NS', target: LAME_SERVER })],
});

function numberOf({ parameters }: Fault, name: string): number {
  const value = parameters[name];
  return typeof value === 'number' ? value : 0;
}

const secondsOf = (fault: Fault): number => numberOf(fault, 'ttlSeconds');

/** The reason in the reply (RFC 8914), for `dig`, the DNS page and verification. */
export const markedAs = (fault: Fault, wrong: DnsAnswer): DnsAnswer => ({
  ...wrong,
  detail: { code: DETAIL_CODES.other, text: `${BROKEN_ON_PURPOSE}: ${nameOf(fault).entry}` },
});

/** The local zone of a question; null outside. */
export const zoneFor = (zones: ZoneSet, { name, type }: Question): ZoneIndex | null =>
  zoneAsked(zones, name.toLowerCase(), type);

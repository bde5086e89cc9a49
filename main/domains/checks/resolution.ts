import { isBroken } from '../../model/dns-lookup.ts';
import type { DnsLookup, DnsRecord, DnsReply, DnsSource, LookupFailure, QuestionType } from '../../model/dns-lookup.ts';
import { dnsName, isAtOrBelow } from '../../model/dns-name.ts';
import type { CaaRecord } from '../../model/caa/value.ts';
import type { CaaLookup } from '../../model/caa/walk.ts';

type Answered = Extract<DnsReply, { kind: 'answered' }>;

/** How many CNAMEs are followed for one name. Real resolvers stop between 8 and 16. */
export const CNAME_HOPS_MAX = 10;

/** The resolution of one name and type along its CNAMEs. Names are in the form of `dnsName`. */
export interface Resolution {
  readonly name: string;
  readonly type: QuestionType;
  /** The targets of the followed CNAMEs, in order. */
  readonly chain: readonly string[];
  /** The first name of the chain with several CNAMEs, which RFC 2181 §10.1 forbids; null without one. */
  readonly rivals: Rivals | null;
  readonly end: ResolutionEnd;
  readonly source: DnsSource;
}

type ResolutionEnd =
  /** Records of the queried type at the end of the chain. */
  | { kind: 'records'; records: readonly DnsRecord[] }
  /** The chain reached the caller's `until` and was not followed further. */
  | { kind: 'reached' }
  | { kind: 'nodata' }
  | { kind: 'nxdomain' }
  /** Vivarium's own server was queried and has no zone for the name. */
  | { kind: 'outside' }
  /** Vivarium's own server was queried, and one of its zones delegates the name elsewhere. */
  | ({ kind: 'delegated' } & Delegation)
  | { kind: 'loop' }
  | { kind: 'too_long' }
  | { kind: 'failed'; reason: LookupFailure; detail?: string };

interface Rivals {
  name: string;
  /** The targets, sorted. The resolution follows the first. */
  targets: readonly string[];
}

/** The delegation that a queried server referred to. */
interface Delegation {
  /** The delegated name, equal to the queried name or above it. */
  cut: string;
  servers: readonly string[];
}

/** Why a delegated name fails, phrased to follow the name and "is". */
export const delegationText = (name: string, { cut, servers }: Delegation): string =>
  `${name === cut ? 'delegated' : `below ${cut}, which is delegated`} to ${servers.join(', ')}, outside Vivarium’s DNS`;

/** Whether the name certainly has no records; Vivarium's own server ignores other name servers. */
export const isAbsent = ({ end }: Resolution): boolean =>
  end.kind === 'nodata' || end.kind === 'nxdomain' || end.kind === 'outside' || end.kind === 'delegated';

/**
 * Resolves a name along its CNAMEs to their end or to `until`. Uses the chain in each reply and queries again where it
 * stops. At most `CNAME_HOPS_MAX` + 1 queries.
 */
export async function resolve(dns: DnsLookup, name: string, type: QuestionType, until?: string): Promise<Resolution> {
  const asked = dnsName(name);
  const chain: string[] = [];
  let rivals: Rivals | null = null;
  for (let at = asked; ;) {
    const reply = await dns.query(at, type);
    const close = (end: ResolutionEnd): Resolution => ({ name: asked, type, chain, rivals, end, source: reply.source });
    if (reply.kind === 'failed') return close({ kind: 'failed', reason: reply.reason, detail: reply.detail });
    const end = follow(reply.answers, [asked, ...chain], type, until, (name, [target, ...others]) => {
      chain.push(target);
      if (others.length > 0) rivals ??= { name, targets: [target, ...others] };
    });
    if (end !== null) return close(end);
    const reached = chain.at(-1) ?? asked;
    const answered = classify(reply, reached, reached !== at);
    if (answered !== null) return close(answered);
    at = reached;
  }
}

/** Follows one answer's CNAMEs from the last of `names`; null where the answer ends. */
function follow(
  answers: readonly DnsRecord[],
  names: readonly string[],
  type: QuestionType,
  until: string | undefined,
  onTargets: (name: string, targets: Targets) => void,
): ResolutionEnd | null {
  const seen = new Set(names);
  let at = names.at(-1) ?? '';
  for (;;) {
    const here = answers.filter((record) => dnsName(record.name) === at);
    const records = type === 'CNAME' ? [] : here.filter(({ data }) => data.type === type);
    if (records.length > 0) return { kind: 'records', records };
    const targets = targetsOf(here);
    if (targets === null) return null;
    const [target] = targets;
    if (seen.size > CNAME_HOPS_MAX) return seen.has(target) ? { kind: 'loop' } : { kind: 'too_long' };
    onTargets(at, targets);
    if (target === until) return { kind: 'reached' };
    if (seen.has(target)) return { kind: 'loop' };
    seen.add(target);
    at = target;
  }
}

type Targets = readonly [string, ...string[]];

/** The targets of a name's CNAMEs, sorted, to make the choice of the first deterministic. */
function targetsOf(records: readonly DnsRecord[]): Targets | null {
  const targets = records.flatMap(({ data }) =>
    data.type === 'CNAME' && data.target !== undefined ? [dnsName(data.target)] : [],
  );
  const [first, ...others] = [...new Set(targets)].sort();
  return first === undefined ? null : [first, ...others];
}

/** What the rcode says about the last name of an answer; null if that name needs a separate query. */
function classify(reply: Answered, name: string, moved: boolean): ResolutionEnd | null {
  switch (reply.rcode) {
    case 'NOERROR':
      if (moved) return null;
      return referralEnd(reply, name) ?? { kind: 'nodata' };
    case 'NXDOMAIN':
      // RFC 6604 §3: the rcode applies to the last name in the chain.
      return { kind: 'nxdomain' };
    case 'REFUSED':
      return reply.source.local && !isBroken(reply.detail)
        ? { kind: 'outside' }
        : { kind: 'failed', reason: 'refused', detail: reply.detail };
    case 'SERVFAIL':
      return { kind: 'failed', reason: 'servfail', detail: reply.detail };
    default:
      return { kind: 'failed', reason: 'rcode', detail: reply.detail ?? reply.rcode };
  }
}

/** A referral has NS records of the name or one above it, and no SOA, unlike nodata (RFC 2308 §2.2). */
function referralEnd({ authority, source }: Answered, name: string): ResolutionEnd | null {
  if (authority.some(({ data }) => data.type === 'SOA')) return null;
  const above = authority.filter(({ data, name: owner }) => data.type === 'NS' && isAtOrBelow(name, dnsName(owner)));
  const [first] = above;
  if (first === undefined) return null;
  const servers = above.flatMap(({ data }) => (data.target === undefined ? [] : [dnsName(data.target)]));
  if (!source.local) return { kind: 'failed', reason: 'referral', detail: servers.join(', ') };
  return { kind: 'delegated', cut: dnsName(first.name), servers };
}

/** The lookup for `explainCaa` over real DNS queries. */
export const caaLookupOver =
  (dns: DnsLookup): ((name: string) => Promise<CaaLookup>) =>
  async (name) =>
    toCaaLookup(await resolve(dns, name, 'CAA'));

function toCaaLookup({ name, chain, end }: Resolution): CaaLookup {
  switch (end.kind) {
    case 'records':
      return { kind: 'records', records: end.records.map(caaOf), aliasChain: chain };
    case 'outside':
      return { kind: 'empty', aliasChain: chain, note: outsideNote(chain.at(-1) ?? name) };
    case 'delegated':
      return { kind: 'empty', aliasChain: chain, note: delegatedNote(chain.at(-1) ?? name, end) };
    case 'nodata':
    case 'nxdomain':
    case 'reached':
      return { kind: 'empty', aliasChain: chain };
    case 'loop':
      return { kind: 'error', reason: 'chain_loop', aliasChain: chain, detail: chain.join(', ') };
    case 'too_long':
      return { kind: 'error', reason: 'chain_too_long', aliasChain: chain };
    case 'failed':
      return { kind: 'error', reason: end.reason, aliasChain: chain, detail: end.detail };
  }
}

const outsideNote = (name: string): string =>
  `${name} is outside Vivarium’s DNS, which counts as having no CAA records`;

const delegatedNote = (name: string, delegation: Delegation): string =>
  `${name} is ${delegationText(name, delegation)}, which counts as having no CAA records`;

const caaOf = ({ data }: DnsRecord): CaaRecord => ({
  flags: data.flags ?? 0,
  tag: data.tag ?? '',
  value: data.value ?? '',
});

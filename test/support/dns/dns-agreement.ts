import { Resolver } from 'node:dns/promises';
import { expect } from 'vitest';
import { formatRecord } from '../../../main/dns/wire/record-text.ts';
import type { RecordData } from '../../../main/dns/wire/record.ts';
import { type Shown, dig, run } from './dns-dig.ts';
import { type DnsFact, linesOf } from './dns-tables.ts';

/** Concurrent clients: each is a process. */
const AT_ONCE = 4;

const lowerOwners = (lines: string[]) => lines.map((line) => line.replace(/^\S+/, (owner) => owner.toLowerCase()));

const shown = ({ rcode, flags, answer, authority, additional }: Shown) => ({
  rcode,
  authoritative: flags.includes('aa'),
  answer: lowerOwners(answer),
  authority: lowerOwners(authority),
  additional: lowerOwners(additional),
});

const expected = (fact: DnsFact) => ({
  rcode: fact.rcode ?? 'NOERROR',
  authoritative: fact.authoritative ?? true,
  answer: linesOf(fact.answer),
  authority: linesOf(fact.authority),
  additional: linesOf(fact.additional),
});

/** Asserts that `dig` or `kdig` shows exactly the facts. */
export async function expectDigAgrees(
  tool: 'dig' | 'kdig',
  server: { port: number; address: string },
  facts: readonly DnsFact[],
  options: readonly string[] = [],
): Promise<void> {
  const questions = facts.map(({ question }) => question);
  const replies = await dig(tool, server, questions, [...options]);
  expect(replies.map(shown)).toEqual(facts.map(expected));
}

/** Without its TTL, which `delv` takes from its cache: a second less if a second has passed. `dig` shows it exactly. */
const withoutTtl = (line: string): string => line.replace(/^(\S+) \d+ /, '$1 ');

/** Asserts that `delv` reaches the facts' outcome by the facts' records, and caches negative answers for as long. */
export async function expectDelvAgrees(server: { port: number }, facts: readonly DnsFact[]): Promise<void> {
  await eachOf(facts, async (fact) => {
    const wanted = linesOf(fact.answer).map(withoutTtl);
    const { outcome, records, negative } = await delv(server, fact.question);
    const found = records.map(withoutTtl);
    // The resolver chooses the order within an RRset, and continues by itself after an open end.
    expect([fact.question, found.slice(0, wanted.length).sort()]).toEqual([fact.question, [...wanted].sort()]);
    if (outcomeOf(fact) === 'open') return;
    expect([fact.question, outcome, found.length, negative]).toEqual([
      ...[fact.question, outcomeOf(fact), wanted.length],
      delvNegative(fact),
    ]);
  });
}

/** Asserts that Node's resolver finds the facts' records, or the reason why there are none. */
export async function expectNodeAgrees(server: { port: number }, facts: readonly DnsFact[]): Promise<void> {
  await eachOf(facts, async (fact) => {
    const resolved = await nodeResolver(server, fact.question);
    if (resolved === null) return;
    // It queries one server and accepts any answer: a referral, or a CNAME that leads out, means no data.
    const outcome = outcomeOf(fact);
    const isSilent = outcome === 'open' || (outcome === 'failed' && (fact.rcode ?? 'NOERROR') === 'NOERROR');
    expect([fact.question, resolved]).toEqual([
      fact.question,
      { outcome: isSilent ? 'no such data' : outcome, records: nodeRecords(fact) },
    ]);
  });
}

async function eachOf(facts: readonly DnsFact[], check: (fact: DnsFact) => Promise<void>): Promise<void> {
  for (let from = 0; from < facts.length; from += AT_ONCE) {
    await Promise.all(facts.slice(from, from + AT_ONCE).map(check));
  }
}

/**
 * A resolver's view of an answer: `found` with the records, one of two negative results, a failure; or `open` when the
 * answer ends with a CNAME, which only some resolvers follow.
 */
export type Outcome = 'found' | 'no such name' | 'no such data' | 'failed' | 'open';

/** What a fact means to a resolver. */
export function outcomeOf({ question, rcode = 'NOERROR', authoritative = true, answer, authority }: DnsFact): Outcome {
  if (rcode === 'NXDOMAIN') return 'no such name';
  if (rcode !== 'NOERROR' || !authoritative) return 'failed';
  if (/ IN SOA /.test(authority ?? '')) return 'no such data';
  const asked = question.split(' ')[1];
  const last = linesOf(answer).at(-1)?.split(' ')[3];
  return last === asked || asked === 'ANY' ? 'found' : 'open';
}

export interface Resolved {
  outcome: Outcome;
  /** As in a zone file, owners in lower case. */
  records: string[];
  /** How long a negative answer would be cached, and by which SOA. */
  negative?: string;
}

/** The longest that `delv` caches negative answers (BIND's max-ncache-ttl). */
const DELV_NEGATIVE_SECONDS_MAX = 10_800;

/** Resolves a question with `delv`, which works like BIND. Its records are those up to the first surprise. */
export async function delv({ port }: { port: number }, question: string): Promise<Resolved> {
  const [name = '', type = ''] = question.split(' ');
  // -i: without validation, as there are no signatures.
  const lines = linesOf(await run('delv', ['@127.0.0.1', '-p', String(port), '-i', '-q', name, '-t', type], 'both'));
  const failure = lines.find((line) => line.startsWith(';; resolution failed:')) ?? '';
  const soa = lines.find((line) => line.startsWith('; ') && line.includes(' SOA ')) ?? '';
  const [negative = ''] = lines.filter((line) => /;-\$NX/.test(line));
  return {
    outcome:
      failure === ''
        ? 'found'
        : failure.includes('nxdomain')
          ? 'no such name'
          : failure.includes('nxrrset')
            ? 'no such data'
            : 'failed',
    records: lines.filter((line) => !line.startsWith(';')).map(lowerOwner),
    ...(soa !== '' && { negative: `${negative.split(' ')[2]} ${soa.slice(2)}` }),
  };
}

/** The SOA in a fact's authority as `delv` shows it. */
export function delvNegative({ authority }: DnsFact): string | undefined {
  const [, apex, ttl, data] = /^(\S+) (\d+) IN SOA (.*)$/.exec(linesOf(authority)[0] ?? '') ?? [];
  if (apex === undefined) return undefined;
  return `${Math.min(Number(ttl), DELV_NEGATIVE_SECONDS_MAX)} ${apex} SOA ${data}`;
}

const lowerOwner = (line: string): string => line.replace(/^\S+/, (owner) => owner.toLowerCase());

type Ask = (resolver: Resolver, name: string) => Promise<RecordData[]>;

/** Types that Node can ask for. */
const NODE_TYPES: Record<string, Ask> = {
  A: async (resolver, name) => (await resolver.resolve4(name)).map((address) => ({ type: 'A', address })),
  AAAA: async (resolver, name) => (await resolver.resolve6(name)).map((address) => ({ type: 'AAAA', address })),
  CNAME: async (resolver, name) => (await resolver.resolveCname(name)).map((target) => ({ type: 'CNAME', target })),
  NS: async (resolver, name) => (await resolver.resolveNs(name)).map((target) => ({ type: 'NS', target })),
  PTR: async (resolver, name) => (await resolver.resolvePtr(name)).map((target) => ({ type: 'PTR', target })),
  MX: async (resolver, name) =>
    (await resolver.resolveMx(name)).map(({ priority, exchange }) => ({ type: 'MX', preference: priority, exchange })),
  SRV: async (resolver, name) =>
    (await resolver.resolveSrv(name)).map(({ name: target, ...numbers }) => ({ type: 'SRV', target, ...numbers })),
  TXT: async (resolver, name) => (await resolver.resolveTxt(name)).map((strings) => ({ type: 'TXT', strings })),
  CAA: async (resolver, name) =>
    (await resolver.resolveCaa(name)).map(({ critical, ...property }) => {
      const [[tag, value] = ['', '']] = Object.entries(property).filter(([key]) => key !== 'type');
      return { type: 'CAA', flags: critical, tag, value: String(value) };
    }),
};

const NODE_OUTCOMES: Record<string, Outcome> = { ENOTFOUND: 'no such name', ENODATA: 'no such data' };

/**
 * Resolves a question with Node's resolver (c-ares), without owners and TTLs; null for a type that it does not support.
 */
export async function nodeResolver({ port }: { port: number }, question: string): Promise<Resolved | null> {
  const [name = '', type = ''] = question.split(' ');
  const ask = NODE_TYPES[type];
  if (ask === undefined) return null;
  const resolver = new Resolver({ timeout: 5_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${port}`]);
  try {
    const data = await ask(resolver, name.replace(/\.$/, ''));
    return {
      // For a dangling CNAME it returns an empty list.
      outcome: data.length === 0 ? 'no such data' : 'found',
      records: data.map((each) => dataOf(formatRecord({ name: '', ttlSeconds: 0, data: each }))).sort(),
    };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return { outcome: NODE_OUTCOMES[code] ?? 'failed', records: [] };
  }
}

/** Type and value of a line. */
const dataOf = (line: string): string => line.split(' ').slice(3).join(' ');

/** The records that a fact's question is about, in the format of `nodeResolver`. */
export function nodeRecords({ question, answer }: DnsFact): string[] {
  const type = question.split(' ')[1] ?? '';
  return linesOf(answer)
    .map(dataOf)
    .filter((data) => data.startsWith(`${type} `))
    .sort();
}

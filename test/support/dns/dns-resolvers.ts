import { Resolver } from 'node:dns/promises';
import { formatRecord } from '../../../main/dns/wire/record-text.ts';
import type { RecordData } from '../../../main/dns/wire/record.ts';
import { run } from './dns-dig.ts';
import { linesOf, type DnsFact } from './dns-tables.ts';

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

import { expect } from 'vitest';
import { dig, type Shown } from './dns-dig.ts';
import { delv, delvNegative, nodeRecords, nodeResolver, outcomeOf } from './dns-resolvers.ts';
import { linesOf, type DnsFact } from './dns-tables.ts';

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

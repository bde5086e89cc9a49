import type { BreakEntry, BreakFamily, BreakSelection, RunningBreak } from './breaks.ts';
import { didYouMean, suggest } from './issues.ts';

type Header = NonNullable<BreakSelection['header']>;

/** A header field to select by, from `NAME=VALUE`; null for anything else. */
export function headerOf(text: string): Header | null {
  const at = text.indexOf('=');
  return at < 1 ? null : { name: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
}

/** What a break selects, in parts: `POST`, `/v1/pets`, `shop.acme.test`, `x-run=7`. */
export function placesOf({ on, project = on.projectId }: Pick<RunningBreak, 'on' | 'project'>): string[] {
  const { type, method, path, hostname, keyId, header } = on;
  const field = header === undefined ? undefined : `${header.name}=${header.value}`;
  const all = project === undefined ? undefined : `all of ${project}’s hostnames`;
  return [type, method, path, hostname, all, keyId, field].filter((part) => part !== undefined);
}

/** The break that leads a project's target to a port where nothing listens. */
export const TARGET_DOWN = 'machine.upstream-dead';

/** The breaks that clients of a hostname meet: not a drill, nor those of issuance and of the doctor's evidence. */
export const breaksMet = <Break extends { entry: string }>(breaks: readonly Break[]): Break[] =>
  breaks.filter(({ entry }) => entry === TARGET_DOWN || !/^(?:drill$|ca\.|machine\.)/.test(entry));

const firstText = (count: number): string => (count === 1 ? 'the first' : `the first ${count.toLocaleString('en')}`);

/** How much a rule breaks of what it selects, in order: `all`, or `after the first 5, 1 in 3, 10 % of these, 2 at most`. */
export function shareText({ first, after, nth, rate }: Pick<RunningBreak, 'first' | 'after' | 'nth' | 'rate'>): string {
  const parts: string[] = [];
  if (after > 0) parts.push(`after ${firstText(after)}`);
  if (nth > 1) parts.push(`1 in ${nth.toLocaleString('en')}`);
  if (rate < 1) parts.push(`${Number((rate * 100).toFixed(4))} %${parts.length === 0 ? '' : ' of these'}`);
  if (first !== undefined) parts.push(parts.length === 0 ? firstText(first) : `${first.toLocaleString('en')} at most`);
  return parts.join(', ') || 'all';
}

export const FAMILY_TITLES: Readonly<Record<BreakFamily, string>> = {
  api: 'API semantics',
  http: 'HTTP framing',
  connection: 'Connections',
  tls: 'TLS and certificates',
  dns: 'Names and DNS',
  domain: 'Domains',
  ca: 'Issuance',
  machine: 'This machine',
};

/** Says that there is no such entry, and which is meant: "dns.servfail" for "servfail" as well; else `fix`. */
export function noEntryText(id: string, catalogue: readonly BreakEntry[], fix = ''): string {
  const ids = catalogue.map((entry) => entry.id);
  const byName = ids.filter((each) => each.endsWith(`.${id}`));
  const near = byName.length > 0 ? suggest(byName) : didYouMean(id, ids);
  return `The catalogue has no entry "${id}".${near || fix}`;
}

/** The entries that match all words of a search, in any of their texts or in a client's message; the most used first. */
export function findEntries(entries: readonly BreakEntry[], search: string): BreakEntry[] {
  const words = search.toLowerCase().split(/\s+/);
  return entries
    .filter(({ id, title, cause, family, symptoms, keywords = '' }) => {
      const text = [id, title, cause, keywords, FAMILY_TITLES[family], ...Object.values(symptoms)].join('\n');
      return words.every((word) => text.toLowerCase().includes(word));
    })
    .toSorted((a, b) => (a.mostUsed ?? Infinity) - (b.mostUsed ?? Infinity));
}

import type { BreakEntry, BreakFamily } from './breaks.ts';

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

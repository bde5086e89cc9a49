import type { BreakEntry, BreakFamily, BreakPoint } from '../../contract/breaks.ts';
import { DRILL_ENTRY, DRILL_TITLE } from '../../contract/drills.ts';
import { API_ENTRIES } from './api.ts';
import { CA_ENTRIES } from './ca.ts';
import { CONNECTION_ENTRIES } from './connection.ts';
import { DNS_ENTRIES } from './dns.ts';
import { DOMAIN_ENTRIES } from './domain.ts';
import { HTTP_ENTRIES } from './http.ts';
import { withKeywords } from './keywords.ts';
import { MACHINE_ENTRIES } from './machine.ts';
import { TLS_ENTRIES } from './tls.ts';

const POINTS: Readonly<Record<BreakFamily, BreakPoint>> = {
  dns: 'question',
  connection: 'request',
  tls: 'handshake',
  http: 'request',
  api: 'request',
  domain: 'state',
  ca: 'issuance',
  machine: 'state',
};

/** The points that only served hostnames reach. */
const OF_SERVED: readonly BreakPoint[] = ['request', 'delay', 'handshake', 'connection'];

export const isOfServed = (entry: Pick<BreakEntry, 'at' | 'family'>): boolean => OF_SERVED.includes(pointOf(entry));

/** A project selects all of its served hostnames, wherever one of them can be selected. */
function withProject(entry: BreakEntry): BreakEntry {
  if (!isOfServed(entry)) return entry;
  return { ...entry, selectors: entry.selectors.flatMap((one) => (one === 'hostname' ? [one, 'projectId'] : [one])) };
}

/** Where an entry acts: the point of its family, unless it has its own. */
export const pointOf = ({ at, family }: Pick<BreakEntry, 'at' | 'family'>): BreakPoint => at ?? POINTS[family];

/** All entries, by family in the order of the page. */
export const CATALOGUE: readonly BreakEntry[] = [
  ...API_ENTRIES,
  ...HTTP_ENTRIES,
  ...CONNECTION_ENTRIES,
  ...TLS_ENTRIES,
  ...DNS_ENTRIES,
  ...DOMAIN_ENTRIES,
  ...CA_ENTRIES,
  ...MACHINE_ENTRIES,
]
  .map(withKeywords)
  .map(withProject);

const TITLES: ReadonlyMap<string, string> = new Map([
  [DRILL_ENTRY, DRILL_TITLE],
  ...CATALOGUE.map(({ id, title }) => [id, title] as const),
]);

/** The title of an entry, or of the running drill; an unknown entry's id. */
export const titleOf = (entry: string): string => TITLES.get(entry) ?? entry;

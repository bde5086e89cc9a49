import { type BreakEntry, type BreakFamily, type BreakPoint, DRILL_ENTRY, DRILL_TITLE } from '../../contract/breaks.ts';
import { API_ENTRIES } from './api.ts';
import { CA_ENTRIES } from './ca.ts';
import { CONNECTION_ENTRIES } from './connection.ts';
import { DNS_ENTRIES } from './dns.ts';
import { DOMAIN_ENTRIES } from './domain.ts';
import { HTTP_ENTRIES } from './http.ts';
import { MACHINE_ENTRIES } from './machine.ts';
import { TLS_ENTRIES } from './tls.ts';

/** What people look for first, in the order of the page. */
const MOST_USED = [
  'http.latency',
  'http.status',
  'api.unavailable',
  'api.error-after-commit',
  'api.retry-after-missing',
  'connection.black-hole',
  'connection.bandwidth',
  'connection.reset-on-accept',
  'connection.reset-mid-body',
  'tls.expired',
  'tls.wrong-host',
  'dns.nxdomain',
  'dns.servfail',
];

/** Words by which people search that an entry does not contain. */
const KEYWORDS: Readonly<Record<string, string>> = {
  'api.unavailable': '500 502 504 5xx error down outage offline maintenance flaky random timeout',
  'api.error-after-commit': '5xx internal server error flaky random idempotency',
  'api.retry-after-missing': 'too many requests rate limit throttled quota',
  'api.key-revoked': 'unauthorized forbidden auth 401',
  'api.banned': 'too many requests rate limit 429',
  'api.staging-down': 'offline outage down',
  'connection.black-hole': 'timeout hang hanging latency slow delay offline',
  'connection.slow-close': 'timeout latency slow delay',
  'connection.bandwidth': 'latency delay throttle mobile 3g offline',
  'connection.slicer': 'slow chunks',
  'connection.refused': 'offline down outage ECONNREFUSED',
  'connection.reset-on-accept': 'ECONNRESET offline flaky random error',
  'connection.reset-mid-body': 'ECONNRESET flaky random error',
  'connection.cut-after': 'truncated flaky error',
  'http.latency': 'latency slow delay lag timeout offline flaky random',
  'http.status': '4xx 5xx 500 502 504 error random flaky offline outage internal server error',
  'http.empty-response': 'socket hang up ECONNRESET flaky random error',
  'tls.expired': 'ssl https error invalid',
  'tls.wrong-host': 'ssl https error mismatch',
  'tls.self-signed': 'ssl https untrusted error',
  'tls.handshake-stalls': 'ssl timeout hang slow delay',
  'dns.nxdomain': 'ENOTFOUND offline not found error',
  'dns.servfail': 'EAI_AGAIN flaky error',
  'dns.silence': 'timeout offline down',
  'dns.slow': 'latency delay timeout',
  'dns.resolvers-disagree': 'flaky random',
  'domain.not-served': 'offline down',
  'ca.slow-finalize': 'latency delay slow timeout',
  'ca.part-unavailable': '503 error down flaky',
  'machine.upstream-dead': '502 bad gateway offline down error ECONNREFUSED',
};

/** An entry with its words for a search, and its place among the most used. */
function withKeywords(entry: BreakEntry): BreakEntry {
  const used = MOST_USED.indexOf(entry.id);
  const keywords = KEYWORDS[entry.id];
  return { ...entry, ...(keywords !== undefined && { keywords }), ...(used !== -1 && { mostUsed: used + 1 }) };
}

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

const POINTS_BY_ID: ReadonlyMap<string, BreakPoint> = new Map(CATALOGUE.map((each) => [each.id, pointOf(each)]));

/** Where the entry of an id acts; undefined for the running drill, and for an unknown entry. */
export const pointOfId = (entry: string): BreakPoint | undefined => POINTS_BY_ID.get(entry);

const TITLES: ReadonlyMap<string, string> = new Map([
  [DRILL_ENTRY, DRILL_TITLE],
  ...CATALOGUE.map(({ id, title }) => [id, title] as const),
]);

/** The title of an entry, or of the running drill; an unknown entry's id. */
export const titleOf = (entry: string): string => TITLES.get(entry) ?? entry;

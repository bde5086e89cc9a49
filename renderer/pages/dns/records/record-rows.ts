import type { PropagatingRRset, RecordInfo } from '../../../../main/contract/zones.ts';

export type RecordText = Pick<RecordInfo, 'name' | 'type' | 'ttl' | 'value'>;

type Answered = PropagatingRRset['answered'];

export interface RecordRow {
  /** Unique in the table and stable across refreshes. */
  key: string;
  name: string;
  /** The apex and the platform zone also contain types that can't be edited, such as SOA. */
  type: string;
  ttl: number;
  value: string;
  /** The editable record; undefined for a removed or read-only one. */
  record?: RecordInfo;
  /** Whether a run holds it. */
  held?: true;
  propagation?: Propagation;
  warnings: readonly string[];
  searchText: string;
}

export type Propagation =
  /** Not visible yet; until then the server answers with `answered`, which may be nothing. */
  | { kind: 'arriving'; atMs: number; answered: Answered }
  /** Removed, but still answered. */
  | { kind: 'leaving'; atMs: number };

export interface RowFilter {
  search: string;
  /** Empty: every type. */
  type: string;
}

/**
 * The rows of a zone in canonical order (RFC 4034 §6.1): the apex, then each name with its subdomains. Removed records
 * that are still answered have their own rows, unless another record replaces them.
 */
export function rowsOf(
  records: readonly RecordInfo[],
  propagating: readonly PropagatingRRset[],
  held: readonly string[] = [],
): RecordRow[] {
  const pending = new Map(propagating.map((rrset) => [keyOf(rrset), rrset]));
  const wanted = new Map<string, Set<string>>();
  const rows = records.map((record): RecordRow => {
    const rrset = pending.get(keyOf(record));
    if (rrset !== undefined) {
      const values = wanted.get(keyOf(record)) ?? new Set();
      wanted.set(keyOf(record), values.add(record.value));
    }
    const propagation = rrset === undefined ? undefined : arrivalOf(record, rrset);
    return {
      ...textOf(record),
      key: record.id,
      ...(held.includes(record.id) ? { held: true } : { record }),
      ...(propagation !== undefined && { propagation }),
      warnings: record.warnings ?? [],
    };
  });
  const arrivals = new Set(rows.map((row) => `${keyOf(row)} ${row.propagation?.atMs ?? ''}`));
  for (const rrset of propagating) {
    const values = wanted.get(keyOf(rrset));
    const { name, type } = rrset;
    for (const { ttl, value } of rrset.answered) {
      if (values?.has(value) === true) continue;
      const atMs = firstWithout(rrset, value);
      // A replaced record appears in its replacement's row.
      if (atMs === undefined || arrivals.has(`${keyOf(rrset)} ${atMs}`)) continue;
      const key = `leaving ${keyOf(rrset)} ${value}`;
      const propagation = { kind: 'leaving', atMs } as const;
      rows.push({ ...textOf({ name, type, ttl, value }), key, propagation, warnings: [] });
    }
  }
  return inOrder(rows);
}

/** Rows of read-only records, such as the platform's. */
export function shownRows(records: readonly (Omit<RecordText, 'type'> & { type: string })[]): RecordRow[] {
  const rows = records.map((record): RecordRow => ({
    ...textOf(record),
    key: `${keyOf(record)} ${record.value}`,
    warnings: [],
  }));
  return inOrder(rows);
}

export function filterRows(rows: readonly RecordRow[], { search, type }: RowFilter): readonly RecordRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && type === '') return rows;
  return rows.filter(
    (row) => (type === '' || row.type === type) && words.every((word) => row.searchText.includes(word)),
  );
}

/** The pending changes at a moment of the app's clock: their number, and when the last becomes visible. */
export function pendingAt(rows: readonly RecordRow[], nowMs: number): { count: number; lastAtMs: number } | undefined {
  const ahead = rows.flatMap(({ propagation }) =>
    propagation !== undefined && propagation.atMs > nowMs ? [propagation.atMs] : [],
  );
  if (ahead.length === 0) return undefined;
  return { count: ahead.length, lastAtMs: ahead.reduce((last, atMs) => Math.max(last, atMs)) };
}

/** The current answer in place of a pending record, in words: `192.0.2.1`, `TTL 60`, `nothing`. */
export function answeredUntil({ value }: Pick<RecordRow, 'value'>, answered: Answered): string {
  const same = answered.find((record) => record.value === value);
  if (same !== undefined) return `TTL ${same.ttl}`;
  const shown = answered.slice(0, ANSWERED_SHOWN_MAX).map((record) => shorten(record.value));
  if (shown.length === 0) return 'nothing';
  const more = answered.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

/** Values of an RRset that are listed before the rest is counted. */
const ANSWERED_SHOWN_MAX = 3;

const SHOWN_LENGTH_MAX = 60;

/** A value shortened to fit into a sentence. */
export const shorten = (text: string): string =>
  text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX - 1)}…`;

/** A record in one line: `www CNAME cname.vivarium.localhost`. */
export const recordTitle = ({ name, type, value }: Pick<RecordRow, 'name' | 'type' | 'value'>): string =>
  `${name} ${type} ${shorten(value)}`;

const keyOf = ({ name, type }: { name: string; type: string }): string => `${type} ${name}`;

function textOf({ name, type, ttl, value }: Omit<RecordText, 'type'> & { type: string }) {
  return { name, type, ttl, value, searchText: `${name} ${type} ${value}`.toLowerCase() };
}

function arrivalOf({ ttl, value, visibleAt }: RecordInfo, { answered }: PropagatingRRset): Propagation | undefined {
  // A record removed and added again has been answered throughout.
  if (answered.some((record) => record.value === value && record.ttl === ttl)) return undefined;
  return { kind: 'arriving', atMs: Date.parse(visibleAt), answered };
}

function firstWithout({ changes }: PropagatingRRset, value: string): number | undefined {
  const change = changes.find(({ answered }) => answered.every((record) => record.value !== value));
  return change === undefined ? undefined : Date.parse(change.at);
}

/** Computes each sort key once: 10,000 rows need 130,000 comparisons. */
function inOrder(rows: readonly RecordRow[]): RecordRow[] {
  const places = rows.map((row, index) => ({ row, index, labels: labelsOf(row.name) }));
  places.sort(
    (a, b) => compare(a.labels, b.labels) || typeRank(a.row.type) - typeRank(b.row.type) || a.index - b.index,
  );
  return places.map(({ row }) => row);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Labels from the zone downwards, the apex first. U+0000 sorts `a.b` before `a-b`. */
const labelsOf = (name: string): string => (name === '@' ? '' : name.split('.').reverse().join('\u0000'));

/** Delegations and address records first, TXT last. */
const TYPE_ORDER = ['SOA', 'NS', 'ALIAS', 'ANAME', 'CNAME', 'A', 'AAAA', 'MX', 'CAA', 'TXT'];

function typeRank(type: string): number {
  const rank = TYPE_ORDER.indexOf(type);
  return rank === -1 ? TYPE_ORDER.length : rank;
}

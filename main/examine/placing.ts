import type { Place } from '../contract/examine.ts';
import type { TrafficEntry } from '../contract/traffic.ts';
import type { Row, Wants } from '../contract/examine-tables.ts';

/** A recorded request, as far as rows are placed by it. */
export type Recorded = Pick<
  TrafficEntry,
  'authority' | 'fault' | 'httpVersion' | 'id' | 'method' | 'requestBytes' | 'responseBytes' | 'status' | 'target'
>;

/** A request that a run made: the n-th of its method and path. */
interface Made extends Place {
  path: string;
  entry: Recorded;
}

/** Methods whose repetition may do something twice (RFC 9110 §9.2.2). */
export const REPEATABLE_HARM: ReadonlySet<string> = new Set(['POST', 'PATCH']);

const hostnameOf = ({ authority }: Recorded): string => (authority ?? '').replace(/:\d+$/, '').toLowerCase();
const pathOf = ({ target }: Recorded): string => target.replace(/\?.*$/, '');

function numbered(entries: readonly Recorded[]): Map<string, Made> {
  const counts = new Map<string, number>();
  const made = new Map<string, Made>();
  for (const entry of entries) {
    const hostname = hostnameOf(entry);
    if (hostname === '' || entry.status === null) continue;
    const path = pathOf(entry);
    const endpoint = JSON.stringify([hostname, entry.method, path]);
    const ordinal = (counts.get(endpoint) ?? 0) + 1;
    counts.set(endpoint, ordinal);
    made.set(`${endpoint} ${ordinal}`, { method: entry.method, hostname, path, ordinal, entry });
  }
  return made;
}

const FITS: Readonly<Record<Wants, (entry: Recorded) => boolean>> = {
  any: ({ method }) => method !== 'OPTIONS',
  body: ({ method, responseBytes }) => method !== 'HEAD' && method !== 'OPTIONS' && responseBytes > 0,
  // An answer of 500 after nothing was done is no such fault.
  write: ({ method, status }) => REPEATABLE_HARM.has(method) && (status ?? 500) < 400,
  list: ({ method, target }) => method === 'GET' && /[?&]limit=/.test(target),
  hostname: () => true,
};

/**
 * The rows, with the place where each strikes: on a request that both runs without faults made, which the seed chooses
 * among those that fit. The rows are spread over them. Null where none fits. A row's twin takes its place if the request
 * came over the other version of HTTP. A row that yields spares all requests to its hostname but the last at most.
 */
export function placeRows(
  rows: readonly Row[],
  [one, other]: readonly [readonly Recorded[], readonly Recorded[]],
  seed: number,
): { row: Row; place: Place | null }[] {
  const also = numbered(other);
  const both = [...numbered(one)].flatMap(([key, made]) => (also.has(key) ? [made] : []));
  return rows.map((row, index) => {
    const { hostname, path, method } = row.on ?? {};
    const fitting = both.filter(
      (made) =>
        FITS[row.wants](made.entry) &&
        (row.http === undefined || row.twin !== undefined || row.http === made.entry.httpVersion) &&
        (hostname === undefined || hostname === made.hostname) &&
        (method === undefined || method === made.method) &&
        (path === undefined || (path.endsWith('*') ? made.path.startsWith(path.slice(0, -1)) : path === made.path)),
    );
    const chosen = fitting[(seed + index) % fitting.length];
    if (chosen === undefined) return { row, place: null };
    const { entry, ...place } = chosen;
    const last = fitting.filter((made) => made.hostname === place.hostname).length - 1;
    const after = row.yields === true ? Math.min(row.after ?? 0, last) : row.after;
    const isOther = row.http !== undefined && row.http !== entry.httpVersion;
    return {
      row: { ...row, break: (isOther ? row.twin : undefined) ?? row.break, ...(after !== undefined && { after }) },
      place: row.wants === 'hostname' ? { ...place, method: null, path: null, ordinal: (after ?? 0) + 1 } : place,
    };
  });
}

/** What `breaks.start` selects for a row at a place. */
export function selectionOf(row: Row, place: Place): { on: object; first: number; after: number } {
  const { hostname, path, method, ordinal } = place;
  const on = row.wants === 'hostname' ? { hostname, ...row.on } : { hostname, path, method };
  return { on, first: row.first ?? 1, after: row.wants === 'hostname' ? (row.after ?? 0) : ordinal - 1 };
}

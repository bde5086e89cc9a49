import { type FilterField, type FilterTerm, momentOf } from './traffic-filter.ts';

/** What a filter reads of an entry itself: a recorded one of the engine, or one of an opened archive on the page. */
export interface Matched {
  method: string;
  target: string;
  authority: string | null;
  status: number | null;
  keyId?: string | null;
  address: string;
  stage: string;
  scheme: string;
  durationMs: number;
  aborted: boolean;
}

/** What it reads elsewhere. */
export interface MatchContext<Entry extends Matched> {
  /** A key's display name. */
  nameOf(keyId: string): string | null;
  idOf(entry: Entry): string;
  /** When it began, in real time; Unix time in milliseconds. */
  startedMs(entry: Entry): number;
  answererOf(entry: Entry): string;
  environmentOf(entry: Entry): string | undefined;
  isRefused(entry: Entry): boolean;
  isReplay(entry: Entry): boolean;
  /** Whether it calls a provider's emulated API. */
  isForProvider(entry: Entry): boolean;
  search: {
    /** In the header fields of both messages, written as `name: value`; not in redacted values. */
    hasHeader(entry: Entry, text: string): boolean;
    /** In the recorded bytes of both bodies, decompressed. */
    hasBody(entry: Entry, text: string): boolean;
  };
}

export function matches<Entry extends Matched>(
  entry: Entry,
  terms: readonly FilterTerm[],
  context: MatchContext<Entry>,
): boolean {
  return terms.every(({ field, values, negated }) => {
    const fits = values.some((value) =>
      field === null ? hasText(entry, value) : fitsField(entry, field, value, context),
    );
    return fits !== negated;
  });
}

function hasText({ method, target, authority, status }: Matched, text: string): boolean {
  return `${method} ${authority ?? ''}${target} ${status ?? ''}`.toLowerCase().includes(text);
}

function fitsField<Entry extends Matched>(
  entry: Entry,
  field: FilterField,
  value: string,
  context: MatchContext<Entry>,
): boolean {
  const { search } = context;
  switch (field) {
    case 'method':
      return entry.method.toLowerCase() === value;
    case 'status':
      return fitsStatus(entry.status, value);
    case 'host':
      return entry.authority?.toLowerCase().includes(value) ?? false;
    case 'path':
      return entry.target.toLowerCase().includes(value);
    case 'header':
      return search.hasHeader(entry, value);
    case 'body':
      return search.hasBody(entry, value);
    case 'key': {
      const { keyId } = entry;
      if (keyId === null || keyId === undefined) return value === 'none';
      return keyId.toLowerCase() === value || (context.nameOf(keyId)?.toLowerCase().includes(value) ?? false);
    }
    case 'address':
      return entry.address === value;
    case 'stage':
      return entry.stage === value || context.answererOf(entry) === value;
    case 'environment':
      return context.environmentOf(entry) === value;
    case 'scheme':
      return entry.scheme === value;
    case 'took':
      return compare(entry.durationMs, value, /(?:ms|s)?$/);
    case 'since':
      return context.startedMs(entry) + entry.durationMs >= (momentOf(value) ?? 0);
    case 'until':
      return context.startedMs(entry) < (momentOf(value) ?? Infinity);
    case 'id':
      return context.idOf(entry).toLowerCase() === value;
    case 'is':
      return isKind(entry, value, context);
  }
}

function fitsStatus(status: number | null, value: string): boolean {
  if (value === 'none') return status === null;
  if (status === null) return false;
  if (value.endsWith('xx')) return Math.floor(status / 100) === Number(value[0]);
  return /^[<>]/.test(value) ? compare(status, value, /$/) : status === Number(value);
}

/** `>=500`, `<2s`: a comparison, with a unit for times. */
function compare(actual: number, text: string, unit: RegExp): boolean {
  const operator = /^[<>]=?/.exec(text)?.[0] ?? '';
  const factor = /[^m]s$/.test(text) ? 1_000 : 1;
  const limit = Number(text.slice(operator.length).replace(unit, '')) * factor;
  if (operator === '>') return actual > limit;
  if (operator === '>=') return actual >= limit;
  return operator === '<' ? actual < limit : actual <= limit;
}

function isKind<Entry extends Matched>(entry: Entry, kind: string, context: MatchContext<Entry>): boolean {
  switch (kind) {
    case 'refused':
      return context.isRefused(entry);
    case 'failed':
      return entry.status === null || entry.status >= 500;
    case 'replay':
      return context.isReplay(entry);
    case 'provider':
      return context.isForProvider(entry);
    case 'websocket':
      return entry.status === 101;
    default:
      return entry.aborted;
  }
}

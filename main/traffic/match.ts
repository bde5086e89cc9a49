import { momentOf, type FilterField, type FilterTerm } from '../contract/traffic-filter.ts';
import { answererOf, type Entry } from './entry.ts';
import type { MessageSearch } from './search.ts';

/** A key's display name. */
export type KeyNames = (keyId: string) => string | null;

/** What matching takes besides the entry. */
export interface MatchContext {
  nameOf: KeyNames;
  search: MessageSearch;
}

/** Whether an entry matches all terms of a filter. */
export function matches(entry: Entry, terms: readonly FilterTerm[], context: MatchContext): boolean {
  return terms.every(({ field, values, negated }) => {
    const fits = values.some((value) =>
      field === null ? hasText(entry, value) : fitsField(entry, field, value, context),
    );
    return fits !== negated;
  });
}

function hasText({ method, target, authority, status }: Entry, text: string): boolean {
  return `${method} ${authority ?? ''}${target} ${status ?? ''}`.toLowerCase().includes(text);
}

function fitsField(entry: Entry, field: FilterField, value: string, { nameOf, search }: MatchContext): boolean {
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
      if (keyId === null) return value === 'none';
      return keyId.toLowerCase() === value || (nameOf(keyId)?.toLowerCase().includes(value) ?? false);
    }
    case 'address':
      return entry.address === value;
    case 'stage':
      return entry.stage === value || answererOf(entry) === value;
    case 'environment':
      return entry.route?.environment === value;
    case 'scheme':
      return entry.scheme === value;
    case 'took':
      return compare(entry.durationMs, value, /(?:ms|s)?$/);
    case 'since':
      return entry.realAtMs + entry.durationMs >= (momentOf(value) ?? 0);
    case 'until':
      return entry.realAtMs < (momentOf(value) ?? Infinity);
    case 'is':
      return isKind(entry, value);
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

function isKind(entry: Entry, kind: string): boolean {
  switch (kind) {
    case 'refused':
      return entry.decision !== null && entry.decision.refusal !== null;
    case 'failed':
      return entry.status === null || entry.status >= 500;
    case 'replay':
      return entry.replayOf !== null;
    case 'websocket':
      return entry.status === 101;
    default:
      return entry.aborted;
  }
}

import { didYouMean } from './issues.ts';
import { STAGE_NAMES } from './stages.ts';

/**
 * The filter of the traffic list, as text: `status:4xx method:POST path:/v1/pets -is:replay rex`. Terms are separated
 * by blanks and joined by "and", several values of one field by "or" (`method:GET,POST`). The engine parses filters;
 * the page also uses this file for completion.
 *
 * - A term is `[-]"text"`, `[-]field:value` or `[-]text`; the minus negates it.
 * - `field:` is two or more letters and a colon at the start of a term; the letters have to be one of `FILTER_FIELDS`.
 *   `scheme://…` and `localhost:8080` are text, and so is any other colon: `a:b`, `/v1/pets:batch`, `[::1]:8080`.
 * - A term that begins with a quotation mark is text, whatever it contains. In a value, quotation marks keep blanks:
 *   `key:"Demo key"`.
 * - Text is searched for in the method, the address with its path, and the status, in any case; `header:` and `body:`
 *   search in both messages.
 */

/** What answered at the stage `target`, as lists of requests name it. */
const TARGET_NAMES = ['api', 'provider', 'upstream'] as const;

export const FILTER_FIELDS = {
  method: { hint: 'GET, POST, …', values: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] },
  status: { hint: '429, 4xx, >=500', values: ['2xx', '3xx', '4xx', '5xx', '401', '404', '429', 'none'] },
  host: { hint: 'a hostname or a part of one', values: [] },
  path: { hint: 'a part of the path and query', values: [] },
  header: { hint: 'a part of a header field: curl, "accept: text"', values: [] },
  body: { hint: 'a part of the first 64 KiB of a body', values: [] },
  key: { hint: 'an API key’s id or name', values: [] },
  address: { hint: 'the client’s address', values: [] },
  stage: { hint: 'which stage answered', values: [...STAGE_NAMES, ...TARGET_NAMES] },
  environment: { hint: 'production or staging', values: ['production', 'staging'] },
  scheme: { hint: 'http or https', values: ['http', 'https'] },
  took: { hint: '>100ms, <2s', values: ['>100ms', '>1s'] },
  since: { hint: 'a real time: 2026-11-22T19:30:05Z; what ended before it is left out', values: [] },
  until: { hint: 'a real time: 2026-11-22T19:31Z; what began after it is left out', values: [] },
  id: { hint: 'the ids of entries', values: [] },
  is: { hint: 'a kind of entry', values: ['refused', 'failed', 'replay', 'websocket', 'provider', 'aborted'] },
} as const;

export type FilterField = keyof typeof FILTER_FIELDS;
const FIELD_NAMES = Object.keys(FILTER_FIELDS) as FilterField[];

export interface FilterTerm {
  /** Null: text to search for in all fields. */
  field: FilterField | null;
  /** In lower case; one of them must match. */
  values: readonly string[];
  negated: boolean;
}

export type FilterResult = { ok: true; terms: FilterTerm[] } | { ok: false; message: string };

/** The maximum number of terms; bounds the work per entry. */
export const FILTER_TERMS_MAX = 30;

/** A term: letters, quoted parts that keep their blanks, and a quotation mark without its partner. */
const TERM = /(?:"[^"]*"|\S)+/g;
const FIELD = /^([a-z]{2,}):(?!\/\/)/i;
const AUTHORITY = /^localhost:\d/i;
const STATUS = /^(?:[1-5]xx|[1-5][0-9]{2}|(?:>=|<=|>|<)[1-5][0-9]{2}|none)$/;
const DURATION = /^(?:>=|<=|>|<)[0-9]+(?:\.[0-9]+)?(?:ms|s)?$/;

/** Parses a filter; a fault tells what to change. */
export function readFilter(text: string): FilterResult {
  const terms: FilterTerm[] = [];
  for (const [word] of text.matchAll(TERM)) {
    const negated = word.length > 1 && word.startsWith('-');
    const bare = negated ? word.slice(1) : word;
    const name = AUTHORITY.test(bare) ? undefined : FIELD.exec(bare)?.[1]?.toLowerCase();
    const value = unquoted(bare).toLowerCase();
    if (name === undefined) {
      if (value !== '') terms.push({ field: null, values: [value], negated });
      continue;
    }
    const field = FIELD_NAMES.find((known) => known === name);
    if (field === undefined) return { ok: false, message: unknownField(name, bare) };
    const values = value
      .slice(name.length + 1)
      .split(',')
      .filter((part) => part !== '');
    const fault = faultOf(field, values);
    if (fault !== null) return { ok: false, message: fault };
    terms.push({ field, values, negated });
  }
  if (terms.length > FILTER_TERMS_MAX) return { ok: false, message: `must have at most ${FILTER_TERMS_MAX} terms` };
  return { ok: true, terms };
}

const unquoted = (word: string): string => word.replaceAll('"', '');

function unknownField(name: string, word: string): string {
  const similar = didYouMean(name, FIELD_NAMES);
  const fix = similar === '' ? `; use one of ${FIELD_NAMES.join(', ')}.` : `.${similar}`;
  return `${name}: is not a field${fix} To search for it as text, ${IN_QUOTES}"${unquoted(word)}"`;
}

/** What a message has before a term in quotes; a shell needs quotes around those. */
export const IN_QUOTES = 'put it in quotes: ';

function faultOf(field: FilterField, values: readonly string[]): string | null {
  const { hint, values: known } = FILTER_FIELDS[field];
  if (values.length === 0) return `${field}: needs a value: ${hint}`;
  const allowed = (value: string): boolean => {
    if (field === 'status') return STATUS.test(value);
    if (field === 'since' || field === 'until') return momentOf(value) !== null;
    if (field === 'took') return DURATION.test(value);
    if (field === 'method') return /^[a-z]+$/.test(value);
    return known.length === 0 || known.some((choice) => choice.toLowerCase() === value);
  };
  const wrong = values.find((value) => !allowed(value));
  if (wrong === undefined) return null;
  return known.length === 0 || field === 'status' || field === 'took'
    ? `${field}:${wrong} is not valid; use ${hint}`
    : `${field}:${wrong} is not valid; use one of ${known.join(', ')}`;
}

const MOMENT = /^\d{4}-\d{2}-\d{2}(?:t\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:\d{2}))?$/i;

/** The epoch milliseconds of a `since:` or `until:` value (ISO 8601, UTC for a date alone); null if it is none. */
export function momentOf(value: string): number | null {
  const atMs = MOMENT.test(value) ? Date.parse(value.toUpperCase()) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}

export interface Completion {
  /** The whole filter, with the word at the cursor completed. */
  text: string;
  /** The displayed text. */
  label: string;
  hint: string;
}

/**
 * Completions for the last word of `text`: fields, or a field's values. `more` supplies values that only the page
 * knows.
 */
export function completeFilter(text: string, more: Partial<Record<FilterField, readonly string[]>> = {}): Completion[] {
  const start = Math.max(text.lastIndexOf(' ') + 1, 0);
  const before = text.slice(0, start);
  const word = text.slice(start);
  const minus = word.startsWith('-') ? '-' : '';
  const bare = word.slice(minus.length);
  const colon = bare.indexOf(':');
  if (colon < 0) {
    return FIELD_NAMES.filter((name) => name.startsWith(bare.toLowerCase())).map((name) => ({
      text: `${before}${minus}${name}:`,
      label: `${name}:`,
      hint: FILTER_FIELDS[name].hint,
    }));
  }
  const field = FIELD_NAMES.find((name) => name === bare.slice(0, colon).toLowerCase());
  if (field === undefined) return [];
  const given = bare.slice(colon + 1);
  const kept = given.includes(',') ? given.slice(0, given.lastIndexOf(',') + 1) : '';
  const begun = given.slice(kept.length).toLowerCase();
  return [...FILTER_FIELDS[field].values, ...(more[field] ?? [])]
    .filter((value) => value.toLowerCase().startsWith(begun) && value.toLowerCase() !== begun)
    .map((value) => ({ text: `${before}${minus}${field}:${kept}${quoted(value)}`, label: value, hint: '' }));
}

const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

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
    const fits = values.some((value) => (field === null ? hasText(entry, value) : FITS[field](entry, value, context)));
    return fits !== negated;
  });
}

const hasText = ({ method, target, authority, status }: Matched, text: string): boolean =>
  `${method} ${authority ?? ''}${target} ${status ?? ''}`.toLowerCase().includes(text);

type Fits = <Entry extends Matched>(entry: Entry, value: string, context: MatchContext<Entry>) => boolean;

const FITS: Record<FilterField, Fits> = {
  method: ({ method }, value) => method.toLowerCase() === value,
  status: ({ status }, value) => fitsStatus(status, value),
  host: ({ authority }, value) => authority?.toLowerCase().includes(value) ?? false,
  path: ({ target }, value) => target.toLowerCase().includes(value),
  header: (entry, value, { search }) => search.hasHeader(entry, value),
  body: (entry, value, { search }) => search.hasBody(entry, value),
  key({ keyId }, value, context) {
    if (keyId === null || keyId === undefined) return value === 'none';
    return keyId.toLowerCase() === value || (context.nameOf(keyId)?.toLowerCase().includes(value) ?? false);
  },
  address: ({ address }, value) => address === value,
  stage: (entry, value, context) => entry.stage === value || context.answererOf(entry) === value,
  environment: (entry, value, context) => context.environmentOf(entry) === value,
  scheme: ({ scheme }, value) => scheme === value,
  took: ({ durationMs }, value) => compare(durationMs, value, /(?:ms|s)?$/),
  since: (entry, value, context) => context.startedMs(entry) + entry.durationMs >= (momentOf(value) ?? 0),
  until: (entry, value, context) => context.startedMs(entry) < (momentOf(value) ?? Infinity),
  id: (entry, value, context) => context.idOf(entry).toLowerCase() === value,
  is: (entry, value, context) => KINDS[value as keyof typeof KINDS](entry, value, context),
};

const KINDS: Record<(typeof FILTER_FIELDS.is.values)[number], Fits> = {
  refused: (entry, _value, context) => context.isRefused(entry),
  failed: ({ status }) => status === null || status >= 500,
  replay: (entry, _value, context) => context.isReplay(entry),
  provider: (entry, _value, context) => context.isForProvider(entry),
  websocket: ({ status }) => status === 101,
  aborted: ({ aborted }) => aborted,
};

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

import { boundedText, ISSUE_CHARACTERS_MAX, ISSUES_MAX, type InputIssue } from './errors.ts';

/** One mistake is tolerated for every so many letters. */
const LETTERS_PER_MISTAKE = 3;

/** Limit on suggestions. */
const SUGGESTIONS_MAX = 3;

/** Longer words are compared only by their beginning: the cost is the product of the lengths. */
const WORD_LENGTH_MAX = 64;

/**
 * Up to three candidates that `word` was probably meant to be, best first: those it begins, and those within a small
 * edit distance. Ignores case.
 */
export function nearest(word: string, candidates: Iterable<string>): string[] {
  const wanted = word.slice(0, WORD_LENGTH_MAX).toLowerCase();
  const found: { candidate: string; mistakes: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const mistakes = countMistakes(wanted, candidate.slice(0, WORD_LENGTH_MAX).toLowerCase());
    const isBeginning = wanted.length >= 2 && candidate.toLowerCase().startsWith(wanted);
    if (isBeginning || mistakes <= Math.max(1, Math.floor(wanted.length / LETTERS_PER_MISTAKE))) {
      found.push({ candidate, mistakes: isBeginning ? 0 : mistakes });
    }
  }
  found.sort((a, b) => a.mistakes - b.mistakes || a.candidate.localeCompare(b.candidate));
  return found.slice(0, SUGGESTIONS_MAX).map(({ candidate }) => candidate);
}

/** ` Did you mean "a" or "b"?` with a leading space; empty if no candidate is similar. */
export const didYouMean = (word: string, candidates: Iterable<string>): string => suggest(nearest(word, candidates));

/** The same question, about all of the candidates. */
export function suggest(candidates: readonly string[]): string {
  const quoted = candidates.map((candidate) => `"${candidate}"`);
  const last = quoted.pop();
  if (last === undefined) return '';
  return ` Did you mean ${quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`}?`;
}

/** The edit distance that counts swapping two neighbours as one mistake (optimal string alignment). */
function countMistakes(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

/** The fields of a zod 4 issue that are read here; the others depend on `code`. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
  readonly code?: string | undefined;
  readonly expected?: unknown;
  readonly values?: readonly unknown[];
  readonly keys?: readonly string[];
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: boolean;
  readonly origin?: string;
  readonly format?: string;
  readonly options?: readonly unknown[];
  /** Of a union: the issues of each of its parts. */
  readonly errors?: readonly (readonly SchemaIssue[])[];
}

/** How many places an error's message names; its issues list more. */
const ISSUES_IN_MESSAGE_MAX = 3;

/** How zod's own sentences begin; any other message was written in the contract. */
const ZOD_MESSAGE = /^(Invalid|Too (small|big)|Unrecognized)\b/;

/** Facts about an input that was read from a text. */
export interface TextOfInput {
  /** The property names that the object at a path may have. */
  namesAt(path: readonly unknown[]): readonly string[];
  /** Where a value is, or the name of a property. */
  locate(path: readonly unknown[], ofKey?: boolean): { line: number; column: number };
}

/**
 * The first invalid places of `input`, each with what is allowed there, and their total. `known` lists the property
 * names that the input may have.
 */
export function toInputIssues(
  issues: readonly SchemaIssue[],
  input: unknown,
  known: readonly string[] = [],
  text?: TextOfInput,
): { issues: InputIssue[]; total: number } {
  const telling = issues.flatMap(ofMatchingPart).filter(saysSomething);
  const first = telling.slice(0, ISSUES_MAX).flatMap((issue) => {
    const path = issue.path ?? [];
    if (issue.code === 'unrecognized_keys') {
      return unknownKeys((issue.keys ?? []).slice(0, ISSUES_MAX), path, known, text);
    }
    return [{ path: formatPath(path), message: describe(issue, valueAt(input, path)), ...text?.locate(path) }];
  });
  const total = telling.reduce(
    (sum, { code, keys }) => sum + (code === 'unrecognized_keys' ? (keys?.length ?? 0) : 1),
    0,
  );
  return { issues: first.slice(0, ISSUES_MAX), total };
}

/** A sentence that summarises the issues: the first places, and what is allowed there. */
export function summarizeIssues({ issues, total }: { issues: readonly InputIssue[]; total: number }): string {
  const named = issues.slice(0, ISSUES_IN_MESSAGE_MAX).map(({ path, message, line, column }) => {
    const place = line === undefined ? '' : ` (line ${line}, column ${column})`;
    // A message may be a sentence; the summary is one.
    return boundedText(`${path || 'the input'}${place} ${message.replace(/\.$/, '')}`, ISSUE_CHARACTERS_MAX);
  });
  const rest = total - named.length;
  const text = named.join('; ') + (rest > 0 ? `; and ${rest.toLocaleString('en')} more` : '');
  return `${text}.`;
}

/** `limits.perMinute`, `redirects[0].from`; empty for the whole input. */
export function formatPath(path: readonly unknown[]): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    return text === '' ? String(segment) : `${text}.${String(segment)}`;
  }, '');
}

/** Replaces the issue of a union by those of the one part that has the input's type. */
function ofMatchingPart(issue: SchemaIssue): SchemaIssue[] {
  if (issue.code !== 'invalid_union' || !ZOD_MESSAGE.test(issue.message)) return [issue];
  const parts = (issue.errors ?? []).filter((part) => !part.every(isOtherType));
  const [part] = parts;
  if (part === undefined || parts.length > 1) return [issue];
  return part.flatMap((inner) => ofMatchingPart({ ...inner, path: [...(issue.path ?? []), ...(inner.path ?? [])] }));
}

const isOtherType = ({ code, path = [] }: SchemaIssue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');

/** Drops the bounds of doubles, which zod reports beside the contract's own: they do not help the user. */
function saysSomething(issue: SchemaIssue, _index: number, all: readonly SchemaIssue[]): boolean {
  if (issue.origin !== 'int') return true;
  const path = formatPath(issue.path ?? []);
  return !all.some((other) => other !== issue && formatPath(other.path ?? []) === path);
}

function unknownKeys(
  keys: readonly string[],
  path: readonly unknown[],
  known: readonly string[],
  text?: TextOfInput,
): InputIssue[] {
  const names = text?.namesAt(path) ?? (path.length === 0 ? known : []);
  const allowed = names.length > 0 ? `; there are ${names.join(', ')}` : '';
  return keys.map((key) => {
    const [near] = text === undefined ? [] : nearest(key, names);
    const message = `is not a known property${near === undefined ? allowed : `; the nearest is "${near}"`}`;
    return { path: formatPath([...path, key]), message, ...text?.locate([...path, key], true) };
  });
}

function valueAt(input: unknown, path: readonly unknown[]): unknown {
  return path.reduce<unknown>((value, segment) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment as PropertyKey)) return undefined;
    return (value as Record<PropertyKey, unknown>)[segment as PropertyKey];
  }, input);
}

function describe(issue: SchemaIssue, value: unknown): string {
  const isMissing = value === undefined;
  if (!ZOD_MESSAGE.test(issue.message)) return isMissing ? `is required: it ${issue.message}` : issue.message;
  if (issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
  const allowed = allowedBy(issue);
  if (allowed === null) return isMissing ? 'is required' : 'is not valid';
  return isMissing ? `is required: ${allowed}` : `must be ${allowed}`;
}

/** The allowed values, phrased to follow "must be"; null when the issue does not name them. */
function allowedBy(issue: SchemaIssue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return typeName(String(issue.expected));
    case 'invalid_value':
      return oneOf(issue.values ?? []);
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${amount(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${amount(issue.maximum, issue.origin)}`;
    case 'invalid_union':
      return unionOf(issue);
    case 'invalid_format':
      return FORMATS[issue.format ?? ''] ?? `in the form "${issue.format ?? ''}"`;
    default:
      return null;
  }
}

function unionOf(issue: SchemaIssue): string | null {
  if (issue.options !== undefined) return oneOf(issue.options);
  const values = (issue.errors ?? []).flat().flatMap((part) => part.values ?? []);
  return values.length > 0 ? oneOf(values) : null;
}

const FORMATS: Record<string, string | undefined> = {
  datetime: 'a moment in ISO 8601, such as "2026-11-20T09:00:00.000Z"',
  url: 'a URL such as "http://localhost:3000"',
};

const TYPES: Record<string, string | undefined> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const typeName = (type: string): string => TYPES[type] ?? `of type ${type}`;

const oneOf = (values: readonly unknown[]): string => {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? (texts[0] ?? '') : `one of ${texts.join(', ')}`;
};

function amount(limit: unknown, origin: string | undefined): string {
  const count = typeof limit === 'number' ? limit.toLocaleString('en') : String(limit);
  if (origin === 'string') return `${count} ${limit === 1 ? 'character' : 'characters'} long`;
  if (origin === 'array') return `${count} ${limit === 1 ? 'item' : 'items'} long`;
  return count;
}

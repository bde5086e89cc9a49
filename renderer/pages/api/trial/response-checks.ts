import { orElse } from '../../../../main/contract/errors.ts';
import type { ReceivedResponse } from '../../../../main/contract/api.ts';
import type { ExactJson } from '../../../../main/base/text/exact-json.ts';
import { readExactly, writeExactly } from '../exact-values.ts';

/**
 * Assertions about a response in httpYac's syntax for `.http` files, after `??`: `status == 200`, `header content-type
 * contains json`, `js response.parsedBody[0].name == Otter`. Of its JavaScript, only paths into a JSON body are
 * supported.
 */
export interface CheckOutcome {
  /** As written, without `??`. */
  text: string;
  passed: boolean;
  /** What was found instead, or why it is not an assertion. */
  found?: string;
}

const LINE =
  /^(?:(status|duration|body)|header\s+([!#$%&'*+.^_`|~\w-]+)|js\s+response\.parsedBody(.*?))\s+(==|!=|>=|<=|>|<|contains|includes|startsWith|endsWith|matches|exists)(?:\s+(.*))?$/i;

const STEP = /^(?:\.([\p{L}_$][\p{L}\p{N}_$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])/u;

const NOT_UNDERSTOOD =
  'is not an assertion; begin with status, header NAME, duration, body or js response.parsedBody, then ==, !=, >, contains, matches or exists';

/** Longer values are cut where they are shown. */
const SHOWN_LENGTH = 120;

type Found = ExactJson | undefined;

/** Checks a response against each line; empty lines are skipped. */
export function checkResponse(lines: readonly string[], response: ReceivedResponse): CheckOutcome[] {
  let parsed: { value: Found } | undefined;
  const bodyOf = (): Found => {
    const isText = response.bodyEncoding === 'utf8' && !response.cut;
    return (parsed ??= { value: isText ? readExactly(response.body) : undefined }).value;
  };
  return lines
    .map((line) => line.replace(/^\s*\?\?/, '').trim())
    .filter((text) => text !== '')
    .map((text) => {
      const [, own, header, path, predicate = '', expected = ''] = LINE.exec(text) ?? [];
      const steps = path === undefined ? [] : stepsOf(path);
      if (predicate === '' || steps === undefined) return { text, passed: false, found: NOT_UNDERSTOOD };
      const found = path === undefined ? partOf(response, own, header) : valueAt(bodyOf(), steps);
      const passed = holds(found, predicate.toLowerCase(), expected.trim());
      return { text, passed, ...(!passed && { found: `found ${shown(found)}` }) };
    });
}

function partOf(response: ReceivedResponse, own: string | undefined, header: string | undefined): Found {
  switch (own?.toLowerCase()) {
    case 'status':
      return response.status;
    case 'duration':
      return response.totalMs;
    case 'body':
      return response.body;
    default:
      return response.headers.find(({ name }) => name.toLowerCase() === header?.toLowerCase())?.value;
  }
}

/** The members of a path such as `.pets[0].name`; undefined if it is not a path. */
function stepsOf(path: string): string[] | undefined {
  const steps: string[] = [];
  for (let rest = path; rest !== '';) {
    const step = STEP.exec(rest);
    if (step === null) return undefined;
    steps.push(step[3] === undefined ? (step[1] ?? step[2] ?? '') : (JSON.parse(step[3]) as string));
    rest = rest.slice(step[0].length);
  }
  return steps;
}

const valueAt = (value: Found, steps: readonly string[]): Found =>
  steps.reduce<Found>((at, step) => {
    if ((typeof at === 'string' || Array.isArray(at)) && step === 'length') return at.length;
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    return (at as Record<string, ExactJson>)[step];
  }, value);

function holds(found: Found, predicate: string, expected: string): boolean {
  switch (predicate) {
    case '==':
      return isEqual(found, expected);
    case '!=':
      return !isEqual(found, expected);
    case 'exists':
      return found !== undefined && found !== null && found !== '' && found !== false && found !== 0;
    case 'contains':
    case 'includes':
      return expected !== '' && textOf(found).includes(expected);
    case 'startswith':
      return expected !== '' && textOf(found).startsWith(expected);
    case 'endswith':
      return expected !== '' && textOf(found).endsWith(expected);
    case 'matches':
      return doesMatch(textOf(found), expected);
    default:
      return isOrdered(found, predicate, expected);
  }
}

/** The expected text is read as the kind of value that was found. */
function isEqual(found: Found, expected: string): boolean {
  if (typeof found === 'string') return found === expected;
  if (found === undefined) return expected === 'undefined';
  const value = readExactly(expected);
  return value !== undefined && writeExactly(value) === writeExactly(found);
}

function isOrdered(found: Found, predicate: string, expected: string): boolean {
  const value = readExactly(expected);
  const isNumber = (one: Found): one is number | bigint => typeof one === 'number' || typeof one === 'bigint';
  if (!isNumber(found) || !isNumber(value)) return false;
  if (predicate === '>') return found > value;
  if (predicate === '<') return found < value;
  return predicate === '>=' ? found >= value : found <= value;
}

const doesMatch = (text: string, pattern: string): boolean =>
  orElse(() => pattern !== '' && new RegExp(pattern, 'u').test(text), false);

function textOf(found: Found): string {
  if (found === undefined) return '';
  return typeof found === 'string' ? found : writeExactly(found);
}

function shown(found: Found): string {
  const text = found === undefined ? 'nothing' : textOf(found) || 'an empty text';
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

import { isDeepStrictEqual } from 'node:util';
import type { Domain } from '../contract/domains.ts';
import type { ExpectedAnswer, ExpectedCount, ExpectedDomain } from '../contract/rehearsal.ts';
import type { TrafficDetail } from '../contract/traffic.ts';

/** Values are shown up to this length. */
const SHOWN_MAX = 200;

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

const differs = (what: string, found: unknown, expected: unknown): string[] =>
  isDeepStrictEqual(found, expected) ? [] : [`${what} is ${show(found)}, not ${show(expected)}`];

export type HttpAnswer = Pick<TrafficDetail, 'status' | 'responseHeaders' | 'responseBody'>;

/** The differences between an answer and what is expected, as sentences; empty if there are none. */
export function judgeAnswer(expected: ExpectedAnswer, answer: HttpAnswer): string[] {
  const { status, headers = {}, json, text } = expected;
  return [
    ...(status === undefined ? [] : differs('the status', answer.status, status)),
    ...Object.entries(headers).flatMap(([name, value]) => judgeHeader(name, value, answer)),
    ...(json === undefined ? [] : judgeJson(json, answer)),
    ...(text === undefined || bodyOf(answer).includes(text)
      ? []
      : [`the body has no ${show(text)}: it is ${show(bodyOf(answer))}`]),
  ];
}

const bodyOf = ({ responseBody }: HttpAnswer): string => responseBody?.text ?? '';

function judgeHeader(name: string, expected: string | null, { responseHeaders }: HttpAnswer): string[] {
  const values = responseHeaders
    .filter((field) => field.name.toLowerCase() === name.toLowerCase())
    .map(({ value }) => value);
  if (expected !== null) return values.includes(expected) ? [] : differs(`the field ${name}`, values[0], expected);
  return values.length === 0 ? [] : [`there is a field ${name}: ${show(values[0])}`];
}

function judgeJson(expected: unknown, answer: HttpAnswer): string[] {
  let body: unknown;
  try {
    body = JSON.parse(bodyOf(answer));
  } catch {
    return [`the body is not JSON: it is ${show(bodyOf(answer))}`];
  }
  return contained('json', body, expected);
}

/** Compares the members of an object that `expected` has, and all items of a list. */
function contained(path: string, found: unknown, expected: unknown): string[] {
  if (isObject(expected) && isObject(found)) {
    return Object.entries(expected).flatMap(([name, value]) =>
      contained(`${path}.${name}`, Object.hasOwn(found, name) ? found[name] : undefined, value),
    );
  }
  if (Array.isArray(expected) && Array.isArray(found)) {
    if (expected.length !== found.length) return [`${path} has ${found.length} items, not ${expected.length}`];
    return expected.flatMap((value, index) => contained(`${path}[${index}]`, found[index], value));
  }
  return differs(path, found, expected);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The compared part of a DNS answer. */
export interface DnsAnswer {
  rcode: string;
  answer: readonly { type: string; rdata: string }[];
  question: { type: string };
}

export function judgeDnsAnswer(
  { rcode, answers }: Pick<ExpectedAnswer, 'rcode' | 'answers'>,
  answer: DnsAnswer,
): string[] {
  const found = answer.answer.filter(({ type }) => type === answer.question.type).map(({ rdata }) => rdata);
  return [
    ...(rcode === undefined ? [] : differs('the response code', answer.rcode, rcode)),
    ...(answers === undefined ? [] : differs('the answer', found.toSorted(), answers.toSorted())),
  ];
}

export type JudgedDomain = Pick<Domain, 'state' | 'certificate' | 'checks' | 'serving'>;

export function judgeDomain(expected: ExpectedDomain, { state, certificate, checks, serving }: JudgedDomain): string[] {
  const wrong = checks.filter(({ outcome }) => outcome !== 'ok');
  const found = wrong.map(({ code }) => code);
  const texts = wrong.flatMap(({ message, words }) => [...(words === undefined ? [] : [words]), message]);
  const reasons = certificate.reason === undefined ? found : [certificate.reason, ...found];
  const listed = [...new Set(reasons)].join(', ');
  const why = listed === '' ? '' : ` (${listed})`;
  const { reason, says } = expected;
  return [
    ...(expected.state === undefined ? [] : differs('the state', state, expected.state)),
    ...(expected.certificate === undefined
      ? []
      : differs('the certificate', certificate.state, expected.certificate).map((text) => text + why)),
    ...(reason === undefined || reasons.includes(reason)
      ? []
      : [listed === '' ? `the checks did not find ${reason}` : `the checks found ${listed}, not ${reason}`]),
    ...(says === undefined || texts.some((text) => text.includes(says))
      ? []
      : [`no check says "${says}": ${texts.length === 0 ? 'all have passed' : texts.join(' ')}`]),
    ...(['http', 'https'] as const).flatMap((scheme) =>
      expected[scheme] === undefined || expected[scheme] === serving[scheme]
        ? []
        : [`it is ${serving[scheme] ? '' : 'not '}served over ${scheme.toUpperCase()}${why}`],
    ),
  ];
}

export function judgeCount(expected: ExpectedCount, found: number): string[] {
  const { atLeast, atMost } = typeof expected === 'number' ? { atLeast: expected, atMost: expected } : expected;
  const isFit = found >= (atLeast ?? 0) && found <= (atMost ?? Infinity);
  return isFit
    ? []
    : [`there ${found === 1 ? 'is' : 'are'} ${found.toLocaleString('en')}, not ${describeCount(expected)}`];
}

/** `3`, `at least 3`, `at least 3 and at most 5`. */
export function describeCount(expected: ExpectedCount): string {
  if (typeof expected === 'number') return expected.toLocaleString('en');
  const { atLeast, atMost } = expected;
  const parts = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast.toLocaleString('en')}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost.toLocaleString('en')}`]),
  ];
  return parts.length === 0 ? 'any number' : parts.join(' and ');
}

import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../base/text/exact-json.ts';
import type { Domain } from '../contract/domains.ts';
import type { ExpectedAnswer, ExpectedCount, ExpectedDomain } from '../contract/rehearsal.ts';
import type { TrafficDetail } from '../contract/traffic.ts';

/** Values are shown up to this length. */
const SHOWN_MAX = 200;

function show(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

/** Expects anything where `expected` is undefined. */
const compareValue = (what: string, found: unknown, expected: unknown): string[] =>
  expected === undefined || isDeepStrictEqual(found, expected)
    ? []
    : [`${what} is ${show(found)}, not ${show(expected)}`];

export type HttpAnswer = Pick<TrafficDetail, 'status' | 'responseHeaders' | 'responseBody'>;

/** The differences between an answer and what is expected, as sentences; empty if there are none. */
export function compareAnswer(expected: ExpectedAnswer, answer: HttpAnswer): string[] {
  const { status, headers = {}, json, text } = expected;
  return [
    ...compareValue('the status', answer.status, status),
    ...Object.entries(headers).flatMap(([name, value]) => compareHeader(name, value, answer)),
    ...(json === undefined ? [] : compareJson(json, answer)),
    ...(text === undefined || bodyOf(answer).includes(text)
      ? []
      : [`the body does not contain ${show(text)}: it is ${show(bodyOf(answer))}`]),
  ];
}

const bodyOf = ({ responseBody }: HttpAnswer): string => responseBody?.text ?? '';

function compareHeader(name: string, expected: string | null, { responseHeaders }: HttpAnswer): string[] {
  const values = responseHeaders
    .filter((field) => field.name.toLowerCase() === name.toLowerCase())
    .map(({ value }) => value);
  if (expected !== null) return values.includes(expected) ? [] : compareValue(`the field ${name}`, values[0], expected);
  return values.length === 0 ? [] : [`the field ${name} is present: ${show(values[0])}`];
}

function compareJson(expected: unknown, answer: HttpAnswer): string[] {
  let body: unknown;
  try {
    body = JSON.parse(bodyOf(answer));
  } catch {
    return [`the body is not JSON: it is ${show(bodyOf(answer))}`];
  }
  return compareContent('json', body, expected);
}

/** Compares the members of an object that are in `expected`, and all items of a list. */
function compareContent(path: string, found: unknown, expected: unknown): string[] {
  if (isRecord(expected) && isRecord(found)) {
    return Object.entries(expected).flatMap(([name, value]) =>
      compareContent(`${path}.${name}`, Object.hasOwn(found, name) ? found[name] : undefined, value),
    );
  }
  if (Array.isArray(expected) && Array.isArray(found)) {
    if (expected.length !== found.length) return [`${path} has ${found.length} items, not ${expected.length}`];
    return expected.flatMap((value, index) => compareContent(`${path}[${index}]`, found[index], value));
  }
  return compareValue(path, found, expected);
}

/** The part of a DNS answer that is compared. */
export interface DnsAnswer {
  rcode: string;
  answer: readonly { type: string; rdata: string }[];
  question: { type: string };
}

export function compareDnsAnswer(
  { rcode, answers }: Pick<ExpectedAnswer, 'rcode' | 'answers'>,
  answer: DnsAnswer,
): string[] {
  const found = answer.answer.filter(({ type }) => type === answer.question.type).map(({ rdata }) => rdata);
  return [
    ...compareValue('the response code', answer.rcode, rcode),
    ...compareValue('the answer', found.toSorted(), answers?.toSorted()),
  ];
}

export type ComparedDomain = Pick<Domain, 'state' | 'certificate' | 'checks' | 'serving'>;

export function compareDomain(
  expected: ExpectedDomain,
  { state, certificate, checks, serving }: ComparedDomain,
): string[] {
  const wrong = checks.filter(({ outcome }) => outcome !== 'ok');
  const found = wrong.map(({ code }) => code);
  const texts = wrong.flatMap(({ message, words }) => [...(words === undefined ? [] : [words]), message]);
  const reasons = certificate.reason === undefined ? found : [certificate.reason, ...found];
  const listed = [...new Set(reasons)].join(', ');
  const why = listed === '' ? '' : ` (${listed})`;
  const { reason, says } = expected;
  return [
    ...compareValue('the state', state, expected.state),
    ...compareValue('the certificate', certificate.state, expected.certificate).map((text) => text + why),
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

export function compareCount(expected: ExpectedCount, found: number): string[] {
  const { atLeast, atMost } = typeof expected === 'number' ? { atLeast: expected, atMost: expected } : expected;
  const isInRange = found >= (atLeast ?? 0) && found <= (atMost ?? Infinity);
  return isInRange
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

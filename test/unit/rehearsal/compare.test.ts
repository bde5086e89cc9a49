import { describe, expect, it } from 'vitest';
import type { ExpectedAnswer, ExpectedDomain } from '../../../main/contract/rehearsal.ts';
import {
  describeCount,
  compareAnswer,
  compareCount,
  compareDnsAnswer,
  compareDomain,
  type HttpAnswer,
  type ComparedDomain,
} from '../../../main/rehearsal/compare.ts';

function answerOf(status: number, text: string, fields: [name: string, value: string][] = []): HttpAnswer {
  return {
    status,
    responseHeaders: fields.map(([name, value]) => ({ name, value })),
    responseBody: { text, encoding: 'utf8', bytes: text.length, cut: false },
  };
}

describe('an answer over HTTP', () => {
  const BODY = '{"items":[{"id":1,"tags":["a"]}],"total":1}';
  const answer = answerOf(200, BODY, [['X-Kind', 'one']]);

  it.each<[string, ExpectedAnswer, string[]]>([
    ['its status', { status: 200 }, []],
    ['another status', { status: 429 }, ['the status is 200, not 429']],
    ['a field in another case', { headers: { 'x-kind': 'one' } }, []],
    ['another value of a field', { headers: { 'X-Kind': 'two' } }, ['the field X-Kind is "one", not "two"']],
    ['a field that is missing', { headers: { 'X-Other': '1' } }, ['the field X-Other is missing, not "1"']],
    ['a field that must be absent, and is', { headers: { 'X-Other': null } }, []],
    [
      'a field that must be absent, but is not',
      { headers: { 'X-Kind': null } },
      ['the field X-Kind is present: "one"'],
    ],
    ['a part of the JSON', { json: { items: [{ id: 1 }] } }, []],
    ['another value in the JSON', { json: { items: [{ id: 2 }] } }, ['json.items[0].id is 1, not 2']],
    ['a list of another length', { json: { items: [] } }, ['json.items has 1 items, not 0']],
    ['a name that the JSON lacks', { json: { next: null } }, ['json.next is missing, not null']],
    ['a text in the body', { text: '"total":1' }, []],
    [
      'a text that the body lacks',
      { text: 'pets' },
      [`the body does not contain "pets": it is ${JSON.stringify(BODY)}`],
    ],
  ])('is compared with %s', (_what, expected, reasons) => {
    expect(compareAnswer(expected, answer)).toEqual(reasons);
  });

  it('must be JSON where JSON is expected, and is shown in part', () => {
    const [reason = ''] = compareAnswer({ json: {} }, answerOf(502, '<p>'.repeat(1_000)));
    expect(reason).toMatch(/^the body is not JSON: it is "<p><p>/);
    expect(reason.length).toBeLessThan(300);
  });

  it('counts as having an empty body if it has none', () => {
    expect(compareAnswer({ text: '' }, { status: 204, responseHeaders: [], responseBody: null })).toEqual([]);
  });
});

describe('an answer over DNS', () => {
  const answer = {
    rcode: 'NOERROR',
    question: { type: 'A' },
    answer: ['CNAME other.test.', 'A 127.0.0.2', 'A 127.0.0.1'].map((line) => {
      const [type = '', rdata = ''] = line.split(' ');
      return { type, rdata };
    }),
  };

  it.each<[string, Pick<ExpectedAnswer, 'rcode' | 'answers'>, string[]]>([
    ['its response code', { rcode: 'NOERROR' }, []],
    ['another one', { rcode: 'NXDOMAIN' }, ['the response code is "NOERROR", not "NXDOMAIN"']],
    ['the answers of the asked type, in any order', { answers: ['127.0.0.1', '127.0.0.2'] }, []],
    ['only one of them', { answers: ['127.0.0.1'] }, ['the answer is ["127.0.0.1","127.0.0.2"], not ["127.0.0.1"]']],
  ])('is compared with %s', (_what, expected, reasons) => {
    expect(compareDnsAnswer(expected, answer)).toEqual(reasons);
  });
});

describe('a domain', () => {
  const refused: ComparedDomain = {
    state: 'verified',
    certificate: { state: 'failed', reason: 'caa_forbids' },
    checks: [
      { code: 'no_record', outcome: 'ok', message: '' },
      { code: 'caa_forbids', outcome: 'failed', message: 'CAA forbids it.', words: 'bad_authz' },
    ],
    serving: { http: true, https: false },
  };

  it.each<[string, ExpectedDomain, string[]]>([
    ['its state', { state: 'verified', certificate: 'failed' }, []],
    ['its reason', { reason: 'caa_forbids' }, []],
    ['another certificate', { certificate: 'issued' }, ['the certificate is "failed", not "issued" (caa_forbids)']],
    ['a reason of a check that passed', { reason: 'no_record' }, ['the checks found caa_forbids, not no_record']],
    ['its words', { says: 'forbids it' }, []],
    ['its persona’s words', { says: 'bad_' }, []],
    ['other words', { says: 'errored' }, ['no check says "errored": bad_authz CAA forbids it.']],
    ['a scheme', { http: true, https: false }, []],
    ['a scheme that is not served', { https: true }, ['it is not served over HTTPS (caa_forbids)']],
    ['a scheme that is served', { http: false }, ['it is served over HTTP (caa_forbids)']],
  ])('is compared with %s', (_what, expected, reasons) => {
    expect(compareDomain(expected, refused)).toEqual(reasons);
  });
});

it.each([
  [3, 3, []],
  [0, 1, ['there is 1, not 0']],
  [{ atLeast: 2 }, 1_500, []],
  [{ atLeast: 2_000 }, 1_500, ['there are 1,500, not at least 2,000']],
  [{ atMost: 2 }, 2, []],
  [{ atLeast: 1, atMost: 2 }, 3, ['there are 3, not at least 1 and at most 2']],
  [{}, 7, []],
])('compares a count with %j: %i', (expected, found, reasons) => {
  expect(compareCount(expected, found)).toEqual(reasons);
  expect(describeCount({})).toBe('any number');
});

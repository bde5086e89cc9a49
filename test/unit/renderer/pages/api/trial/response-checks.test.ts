import { expect, it } from 'vitest';
import type { ReceivedResponse } from '../../../../../../main/contract/api.ts';
import { checkResponse } from '../../../../../../renderer/pages/api/trial/response-checks.ts';

const BODY = '{"id":9007199254740993,"name":"Otter","tags":["a","b"],"sold":false,"more":{"a b":null},"price":1.5}';

const RESPONSE: ReceivedResponse = {
  httpVersion: '1.1',
  status: 200,
  reason: 'OK',
  headers: [{ name: 'Content-Type', value: 'application/json; charset=utf-8' }],
  body: BODY,
  bodyEncoding: 'utf8',
  bodyBytes: BODY.length,
  cut: false,
  firstByteMs: 1,
  totalMs: 2.5,
};

it.each([
  'status == 200',
  'STATUS >= 200',
  'status != 404',
  'duration < 100',
  'header content-type contains json',
  'header Content-Type startsWith application/',
  'header x-none == undefined',
  'body includes "Otter"',
  'body endsWith }',
  'js response.parsedBody.id == 9007199254740993',
  'js response.parsedBody.id > 9007199254740992',
  'js response.parsedBody.name == Otter',
  'js response.parsedBody.name matches ^O\\w+r$',
  'js response.parsedBody.tags[1] == b',
  'js response.parsedBody.tags.length == 2',
  'js response.parsedBody.tags == ["a", "b"]',
  'js response.parsedBody["more"]["a b"] == null',
  'js response.parsedBody.sold == false',
  'js response.parsedBody.price <= 1.5',
  'js response.parsedBody.name exists',
  '?? status == 200',
  '  ?? status == 200',
])('%s holds', (line) => {
  expect(checkResponse([line], RESPONSE)).toEqual([{ text: line.replace(/^ *\?\? /, ''), passed: true }]);
});

it.each([
  ['status == 404', 'found 200'],
  ['js response.parsedBody.id == 9007199254740992', 'found 9007199254740993'],
  ['js response.parsedBody.nothing.at[3] exists', 'found nothing'],
  ['js response.parsedBody.toString exists', 'found nothing'],
  ['js response.parsedBody.sold exists', 'found false'],
  ['header x-none contains a', 'found nothing'],
  ['body matches (', `found ${BODY}`],
  ['status > two', 'found 200'],
  ['js response.parsedBody.sold > -1', 'found false'],
  ['js process.exit() == 1', expect.stringContaining('is not an assertion')],
  ['js response.parsedBody.map(x) == 1', expect.stringContaining('is not an assertion')],
  ['status is 200', expect.stringContaining('is not an assertion')],
])('%s does not: %s', (line, found) => {
  expect(checkResponse([line], RESPONSE)).toEqual([{ text: line, passed: false, found }]);
});

it('finds nothing in a body that is incomplete, not text or not JSON, a zero not enough, and shortens what it shows', () => {
  const found = (changes: Partial<ReceivedResponse>, line = 'js response.parsedBody.id exists') =>
    checkResponse([line, ' '], { ...RESPONSE, ...changes }).map((outcome) => outcome.found);
  expect(found({ body: '{"id":0}' })).toEqual(['found 0']);
  for (const changes of [{ cut: true }, { bodyEncoding: 'base64' as const }, { body: 'Otter' }])
    expect(found(changes)).toEqual(['found nothing']);
  expect(found({ body: 'x'.repeat(500) }, 'body == y')).toEqual([`found ${'x'.repeat(120)}…`]);
});

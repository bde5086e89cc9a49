import { expect, it } from 'vitest';
import { hasBearerCredentials, readBearerToken, pairsOf, withoutFields } from '../../../../main/base/http/message.ts';
import { originOf } from '../../../../main/base/text/hostname.ts';
import { rawResponse } from '../../../../main/base/http/answer.ts';

it.each([
  ['Bearer abc', 'abc', true],
  ['bearer abc', 'abc', true],
  ['BEARER   abc', 'abc', true],
  ['Bearer abc ', 'abc', true],
  ['Bearer a.b-c_d~e+f/g==', 'a.b-c_d~e+f/g==', true],
  ['Bearer', null, false],
  ['Bearer ', null, false],
  ['Bearer\tabc', null, false],
  ['Bearer abc def', null, true],
  ['Bearer abc, Bearer def', null, true],
  ['Bearer "abc"', null, true],
  ['Bearerabc', null, false],
  ['Basic abc', null, false],
  ['abc', null, false],
  ['', null, false],
  [undefined, null, false],
])('the bearer token of an Authorization field in %j is %j', (field, token, hasCredentials) => {
  expect([readBearerToken(field), hasBearerCredentials(field)]).toEqual([token, hasCredentials]);
});

it('raw fields alternate names and values', () => {
  const pairs = [
    ['Host', 'a.test'],
    ['X-A', ''],
  ];
  expect(pairsOf(['Host', 'a.test', 'X-A', ''])).toEqual(pairs);
  expect(pairsOf(['Host', 'a.test', 'X-A', '', 'without a value'])).toEqual(pairs);
});

it('fields are removed by their names in lower case; the others keep spelling and order', () => {
  const fields = ['Host', 'a.test', 'X-A', '1', 'x-b', '2', 'x-a', '3'];
  expect(withoutFields(fields, (name) => name === 'x-a')).toEqual(['Host', 'a.test', 'x-b', '2']);
});

it.each([
  ['http', 80, 'http://a.test'],
  ['https', 443, 'https://a.test'],
  ['http', 443, 'http://a.test:443'],
  ['https', 8443, 'https://a.test:8443'],
] as const)('the origin of %s at port %i is %s', (scheme, port, origin) => {
  expect(originOf(scheme, 'a.test', port)).toBe(origin);
});

it('a raw response is complete, and announces that the connection closes', () => {
  expect(rawResponse(400, ['Allow', 'GET'], '{"ö":1}')).toBe(
    'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 8\r\n' +
      'Allow: GET\r\nConnection: close\r\n\r\n{"ö":1}',
  );
});

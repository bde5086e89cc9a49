import { describe, expect, test } from 'vitest';
import { GET_PET_RETIREMENT, httpDate, retirementHeaders } from '../../../main/api/headers.ts';
import { gone, unauthorized } from '../../../main/api/failures.ts';
import { problemAnswer, refusedByLimit } from '../../../main/model/problem.ts';
import { createRoutes } from '../../../main/api/routes.ts';
import { OPERATIONS } from '../../../main/api/operations.ts';

const ORIGIN = 'http://demo.vivarium.localhost:8080';
const BASE_URL = `${ORIGIN}/v1`;

test('the retirement of getPet is announced in the forms of RFC 9745, RFC 8594 and RFC 8288', () => {
  expect(retirementHeaders(GET_PET_RETIREMENT, BASE_URL)).toEqual([
    'Deprecation',
    '@1764892800',
    'Sunset',
    'Thu, 05 Dec 2030 00:00:00 GMT',
    'Link',
    '<http://demo.vivarium.localhost:8080/v1/pets>; rel="successor-version"',
  ]);
  expect(httpDate(0)).toBe('Thu, 01 Jan 1970 00:00:00 GMT');
});

test('410 names the replacement', () => {
  expect(JSON.parse(problemAnswer(gone(GET_PET_RETIREMENT)).body?.text ?? '')).toEqual({
    code: 'gone',
    message: 'This operation was removed on Thu, 05 Dec 2030 00:00:00 GMT; use GET /pets with a status filter.',
    status: 410,
  });
});

test('429 carries Retry-After and the message of the decision', () => {
  const answer = problemAnswer(refusedByLimit({ code: 'api_key_banned', message: 'Wait.', retryAfterSeconds: 600 }));
  expect(answer).toMatchObject({ status: 429, headers: ['Retry-After', '600'] });
  expect(JSON.parse(answer.body?.text ?? '')).toEqual({ code: 'api_key_banned', message: 'Wait.', status: 429 });
});

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ['', false],
  ['Bearer', false],
  ['Bearer ', false],
  ['Basic dXNlcjpwYXNz', false],
  ['viv_0123', false],
  ['Bearer viv_0123', true],
  ['bearer   viv_0123', true],
])('401 for the Authorization field %j says invalid_token, and explains: %j', (authorization, invalidToken) => {
  const [, challenge] = unauthorized({ headers: { authorization } }).headers;
  expect(challenge).toBe(`Bearer realm="Animal Store API"${invalidToken ? ', error="invalid_token"' : ''}`);
});

describe('a request that is not an operation', () => {
  const routes = createRoutes(Object.values(OPERATIONS));
  const unrouted = (method: string, url: string) => {
    const found = routes.find(method, url, ORIGIN);
    if (found.kind !== 'none') throw new Error(`${method} ${url} leads somewhere`);
    return found.answer;
  };

  test.each<[string, string, number, string]>([
    ['GET', '/', 404, 'base address'],
    ['GET', '/favicon.ico', 404, `the base address of the API is ${BASE_URL}`],
    ['GET', '/v2/pets', 404, 'base address'],
    ['GET', '/v1', 404, `${BASE_URL}/openapi.json`],
    ['GET', '/v1/cats', 404, `${BASE_URL}/openapi.json`],
    ['GET', '/v1/pets/', 404, `did you mean ${BASE_URL}/pets?`],
    ['GET', '/v1//pets', 404, `did you mean ${BASE_URL}/pets?`],
    ['GET', '/V1/Pets', 404, `did you mean ${BASE_URL}/pets?`],
    ['GET', '/pets?limit=1', 404, `did you mean ${BASE_URL}/pets?`],
    ['GET', '/v1/pets/1/', 404, `did you mean ${BASE_URL}/pets/1?`],
    ['GET', '/v1%2Fpets', 404, 'base address'],
    ['GET', `/${'x'.repeat(5000)}`, 404, 'x…'],
    ['DELETE', '/v1/pets', 405, 'GET, HEAD, POST, OPTIONS'],
    ['PUT', '/v1/pets/1', 405, 'GET, HEAD, OPTIONS'],
    ['PATCH', '/v1/p%65ts/1?x=y', 405, 'GET, HEAD, OPTIONS'],
    ['POST', '/v1/store/orders', 405, 'GET, HEAD, OPTIONS'],
    ['POST', '/v1/openapi.json', 405, 'GET, HEAD, OPTIONS'],
  ])('%s %s is answered %d', (method, url, status, words) => {
    const answer = unrouted(method, url);
    expect(answer.status).toBe(status);
    expect(answer.body?.text).toContain(words);
    expect(answer.headers.includes('Allow')).toBe(status === 405);
    expect(answer.body?.text.length).toBeLessThan(500);
  });

  test.each<[string, string | null]>([
    ['/v1/pets', 'GET, HEAD, POST, OPTIONS'],
    ['/v1/pets/1', 'GET, HEAD, OPTIONS'],
    ['/v1/store/orders', 'GET, HEAD, OPTIONS'],
    ['/v1/none', null],
  ])('OPTIONS %s allows %s', (url, allow) => {
    const answer = unrouted('OPTIONS', url);
    expect(answer).toMatchObject(
      allow === null ? { status: 404 } : { status: 204, body: null, headers: ['Allow', allow] },
    );
  });
});

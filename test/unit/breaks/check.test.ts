import { expect, it } from 'vitest';
import type { StartInput } from '../../../main/breaks/breaks.ts';
import { breaksOn } from './parts.ts';

const NARROWED = 'does not apply to dns.servfail, which is narrowed by hostname, type only.';
const EDIT = 'does not apply to domain.no-record: it makes one edit';

it.each<[entry: string, more: Partial<StartInput>, message: string]>([
  ['api.unavailabel', {}, 'The catalogue has no entry "api.unavailabel". Did you mean "api.unavailable"?'],
  ['servfail', {}, 'Did you mean "dns.servfail"?'],
  ['xyz', {}, 'To list entries: `breaks.catalogue`.'],
  ['connection.refused', {}, 'connection.refused cannot be produced here: a port is refused for all'],
  ['dns.servfail', { on: { path: '/' } }, `on.path: ${NARROWED}`],
  ['api.unavailable', { on: { method: 'FETCH' } }, '"FETCH" is no method of HTTP, such as "POST".'],
  ['dns.servfail', { on: { header: { name: 'X-Run', value: '7' } } }, `on.header: ${NARROWED}`],
  [
    'api.unavailable',
    { on: { hostname: 'shop.acne.test' } },
    'shop.acne.test is not served; these are: *.tenants.acme.test, demo.vivarium.localhost, shop.acme.test. Did you mean "shop.acme.test"?',
  ],
  ['tls.expired', { on: { hostname: '*.shop.acme.test' } }, '*.shop.acme.test is not served'],
  [
    'tls.expired',
    { on: { hostname: 'api.vercel.com' } },
    'on.hostname: does not apply to tls.expired: the certificates of api.vercel.com are made when a connection is opened',
  ],
  ['api.unavailable', { on: { hostname: 'a b' } }, 'on.hostname: "a b" is not a hostname'],
  ['dns.servfail', { on: { hostname: 'x.example' } }, 'x.example is in no local zone'],
  ['api.unavailable', { on: { hostname: 'localhost' } }, '"localhost" is Vivarium’s own, which is never broken'],
  ['tls.expired', { on: { hostname: 'Vivarium.localhost.' } }, 'is Vivarium’s own'],
  ['api.unavailable', { on: { path: '/dns-query' } }, 'on.path: /dns-query is answered by Vivarium itself'],
  ['api.unavailable', { on: { path: '/.well-known/vivarium-look/x' } }, 'is answered by Vivarium itself'],
  ['api.unavailable', { on: { path: '/v1/pets?limit=1' } }, 'on.path: must be a path without a query'],
  ['api.unavailable', { on: { keyId: 'key_gone' } }, 'No API key "key_gone".'],
  ['api.unavailable', { on: { projectId: 'prj_gone' } }, 'No project "prj_gone".'],
  [
    'tls.expired',
    { on: { hostname: 'shop.acme.test', projectId: 'prj_Shop' } },
    'on.projectId: does not apply beside a hostname (shop.acme.test).',
  ],
  ['dns.servfail', { on: { projectId: 'prj_Shop' } }, `on.projectId: ${NARROWED}`],
  ['domain.no-record', { rate: 0.5 }, `rate: ${EDIT}`],
  ['domain.no-record', { nth: 2 }, `nth: ${EDIT}`],
  ['domain.no-record', { first: 2 }, `first: ${EDIT}`],
  ['domain.no-record', { after: 1 }, `after: ${EDIT}`],
  [
    'api.unavailable',
    { parameters: { retryAfter: 1 } },
    'parameters.retryAfter: is not a parameter of api.unavailable; it has retryAfterS, body, header.',
  ],
  [
    'api.unavailable',
    { parameters: { retryAfterS: 0 } },
    'parameters.retryAfterS: must be a whole number from 1 to 3600: seconds.',
  ],
  ['api.unavailable', { parameters: { retryAfterS: 'soon' } }, 'must be a whole number'],
  ['api.unavailable', { parameters: { body: 'xml' } }, 'parameters.body: must be json or html.'],
])('refuses %s with %j: %s', async (entry, more, message) => {
  const { breaks, start } = breaksOn();
  await expect(start(entry, more)).rejects.toThrow(message);
  expect(breaks.list()).toEqual([]);
});

const ONE_FIELD = 'parameters.header: must be one header field, such as "Retry-After: 3".';
const FRAMING = 'which describes the connection or the length; choose another field.';

it.each([
  ...['Retry-After', ': 3', 'Retry After: 3', 'X-A: 1\r\nX-B: 2', 'X-A:', 'X-A: ä'].map((field) => [field, ONE_FIELD]),
  ...['Connection: close', 'transfer-encoding: chunked', 'Content-Length: 3', 'Upgrade: h2c'].map((field) => [
    field,
    FRAMING,
  ]),
])('refuses the field %j: %s', async (header = '', message = '') => {
  await expect(breaksOn().start('api.unavailable', { parameters: { header } })).rejects.toThrow(message);
});

it('fills in defaults, and accepts numbers as text and hostnames in any case', async () => {
  const { start } = breaksOn();
  const parameters = { retryAfterS: '5', header: 'Retry-After: 3' };
  expect(await start('api.unavailable', { on: { hostname: 'Shop.Acme.TEST.' }, parameters })).toMatchObject({
    on: { hostname: 'shop.acme.test' },
    parameters: { retryAfterS: 5, body: 'json', header: 'Retry-After: 3' },
  });
  expect(await start('tls.expired', { on: { hostname: 'a.tenants.acme.test' } })).toBeDefined();
  const on = { hostname: '_acme-challenge.shop.acme.test', type: 'TXT' } as const;
  expect(await start('dns.servfail', { on })).toBeDefined();
});

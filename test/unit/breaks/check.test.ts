import { expect, it } from 'vitest';
import type { StartInput } from '../../../main/breaks/breaks.ts';
import { breaksOn } from './parts.ts';

it.each<[string, string, Partial<StartInput>, string]>([
  [
    'an unknown entry',
    'api.unavailabel',
    {},
    'The catalogue has no entry "api.unavailabel". Did you mean "api.unavailable"?',
  ],
  ['an entry without its family', 'servfail', {}, 'Did you mean "dns.servfail"?'],
  ['an entry without a similar name', 'xyz', {}, 'To list entries: `breaks.catalogue`.'],
  [
    'an impossible entry',
    'connection.refused',
    {},
    'connection.refused cannot be produced here: a port is refused for all',
  ],
  [
    'a selector that it does not take',
    'dns.servfail',
    { on: { path: '/' } },
    'on.path: does not apply to dns.servfail, which is narrowed by hostname, type only.',
  ],
  [
    'a method that is none',
    'api.unavailable',
    { on: { method: 'FETCH' } },
    '"FETCH" is no method of HTTP, such as "POST".',
  ],
  [
    'a header where there are no requests',
    'dns.servfail',
    { on: { header: { name: 'X-Run', value: '7' } } },
    'on.header: does not apply to dns.servfail, which is narrowed by hostname, type only.',
  ],
  [
    'a hostname that is not served',
    'api.unavailable',
    { on: { hostname: 'shop.acne.test' } },
    'shop.acne.test is not served; these are: *.tenants.acme.test, demo.vivarium.localhost, shop.acme.test. Did you mean "shop.acme.test"?',
  ],
  [
    'a wildcard over nothing',
    'tls.expired',
    { on: { hostname: '*.shop.acme.test' } },
    '*.shop.acme.test is not served',
  ],
  [
    'a certificate of a provider’s host',
    'tls.expired',
    { on: { hostname: 'api.vercel.com' } },
    'on.hostname: does not apply to tls.expired: the certificates of api.vercel.com are made when a connection is opened',
  ],
  ['a malformed hostname', 'api.unavailable', { on: { hostname: 'a b' } }, 'on.hostname: "a b" is not a hostname'],
  ['a name in no zone', 'dns.servfail', { on: { hostname: 'x.example' } }, 'x.example is in no local zone'],
  [
    'Vivarium’s own host',
    'api.unavailable',
    { on: { hostname: 'localhost' } },
    '"localhost" is Vivarium’s own, which is never broken',
  ],
  ['the platform’s own host', 'tls.expired', { on: { hostname: 'Vivarium.localhost.' } }, 'is Vivarium’s own'],
  [
    'one of Vivarium’s own paths',
    'api.unavailable',
    { on: { path: '/dns-query' } },
    'on.path: /dns-query is answered by Vivarium itself',
  ],
  [
    'a path below one of Vivarium’s own',
    'api.unavailable',
    { on: { path: '/.well-known/vivarium-look/x' } },
    'is answered by Vivarium itself',
  ],
  ['a query', 'api.unavailable', { on: { path: '/v1/pets?limit=1' } }, 'on.path: must be a path without a query'],
  ['an unknown key', 'api.unavailable', { on: { keyId: 'key_gone' } }, 'No API key "key_gone".'],
  ['an unknown project', 'api.unavailable', { on: { projectId: 'prj_gone' } }, 'No project "prj_gone".'],
  [
    'a hostname and a project',
    'tls.expired',
    { on: { hostname: 'shop.acme.test', projectId: 'prj_Shop' } },
    'on.projectId: does not apply beside a hostname (shop.acme.test).',
  ],
  [
    'a project where questions are broken',
    'dns.servfail',
    { on: { projectId: 'prj_Shop' } },
    'on.projectId: does not apply to dns.servfail, which is narrowed by hostname, type only.',
  ],
  [
    'a rate of an edit',
    'domain.no-record',
    { rate: 0.5 },
    'rate: does not apply to domain.no-record: it makes one edit',
  ],
  ['every n-th edit', 'domain.no-record', { nth: 2 }, 'nth: does not apply to domain.no-record: it makes one edit'],
  ['the first edits', 'domain.no-record', { first: 2 }, 'first: does not apply to domain.no-record: it makes one edit'],
  [
    'edits after some',
    'domain.no-record',
    { after: 1 },
    'after: does not apply to domain.no-record: it makes one edit',
  ],
  [
    'an unknown setting',
    'api.unavailable',
    { parameters: { retryAfter: 1 } },
    'parameters.retryAfter: is not a parameter of api.unavailable; it has retryAfterS, body, header.',
  ],
  [
    'a number out of bounds',
    'api.unavailable',
    { parameters: { retryAfterS: 0 } },
    'parameters.retryAfterS: must be a whole number from 1 to 3600: seconds.',
  ],
  ['a text for a number', 'api.unavailable', { parameters: { retryAfterS: 'soon' } }, 'must be a whole number'],
  [
    'a text that is not permitted',
    'api.unavailable',
    { parameters: { body: 'xml' } },
    'parameters.body: must be json or html.',
  ],
  ...['Retry-After', ': 3', 'Retry After: 3', 'X-A: 1\r\nX-B: 2', 'X-A:', 'X-A: ä'].map(
    (header): [string, string, Partial<StartInput>, string] => [
      `the field ${JSON.stringify(header)}`,
      'api.unavailable',
      { parameters: { header } },
      'parameters.header: must be one header field, such as "Retry-After: 3".',
    ],
  ),
  ...['Connection: close', 'transfer-encoding: chunked', 'Content-Length: 3', 'Upgrade: h2c'].map(
    (header): [string, string, Partial<StartInput>, string] => [
      `the field ${header}`,
      'api.unavailable',
      { parameters: { header } },
      'which describes the connection or the length; choose another field.',
    ],
  ),
])('refuses %s', async (_what, entry, more, message) => {
  const { breaks, start } = breaksOn();
  await expect(start(entry, more)).rejects.toThrow(message);
  expect(breaks.list()).toEqual([]);
});

it('fills in defaults, and accepts numbers as text and hostnames in any case', async () => {
  const { start } = breaksOn();
  expect(
    await start('api.unavailable', {
      on: { hostname: 'Shop.Acme.TEST.' },
      parameters: { retryAfterS: '5', header: 'Retry-After: 3' },
    }),
  ).toMatchObject({
    on: { hostname: 'shop.acme.test' },
    parameters: { retryAfterS: 5, body: 'json', header: 'Retry-After: 3' },
  });
  expect(await start('tls.expired', { on: { hostname: 'a.tenants.acme.test' } })).toBeDefined();
  expect(
    await start('dns.servfail', { on: { hostname: '_acme-challenge.shop.acme.test', type: 'TXT' } }),
  ).toBeDefined();
});

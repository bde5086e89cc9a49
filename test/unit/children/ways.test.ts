import { expect, test } from 'vitest';
import { isExcluded, proxyBefore } from '../../../main/children/ways.ts';

test.each<[string, string, number, boolean]>([
  ['', 'a.test', 443, false],
  ['*', 'a.test', 443, true],
  ['acme.test', 'acme.test', 443, true],
  ['acme.test', 'app.acme.test', 443, true],
  ['acme.test', 'noacme.test', 443, false],
  ['.acme.test', 'app.acme.test', 443, true],
  ['*.acme.test', 'app.acme.test', 443, true],
  ['ACME.test', 'acme.test', 443, true],
  ['app.acme.test.', 'app.acme.test', 443, true],
  ['.acme.test.', 'app.acme.test', 443, true],
  ['..acme.test', 'app.acme.test', 443, true],
  ['*.acme.test.:443', 'app.acme.test', 443, true],
  ['acme.test.:8443', 'acme.test', 443, false],
  ['..', 'acme.test', 443, false],
  ['acme.test:8443', 'acme.test', 443, false],
  ['acme.test:8443', 'acme.test', 8443, true],
  ['one.test two.test', 'two.test', 443, true],
  ['one.test, two.test', 'two.test', 443, true],
  ['10.0.0.0/8', '10.1.2.3', 80, true],
  ['10.0.0.0/8', '11.1.2.3', 80, false],
  ['10.0.0.0/99', '10.1.2.3', 80, false],
  ['10.0.0.0/x', '10.1.2.3', 80, false],
  ['127.0.0.1', '127.0.0.1', 80, true],
  ['127.0.0.1', '::1', 80, false],
  ['::1', '::1', 80, true],
  ['[::1]', '::1', 80, true],
  ['fd00::/8', 'fd12::3', 80, true],
  ['fd00::/8', 'acme.test', 80, false],
])('NO_PROXY=%j covers %s at port %i: %s', (list, host, port, isCovered) => {
  expect(isExcluded(list, host, port)).toBe(isCovered);
});

test.each<[Record<string, string>, 'http' | 'https', string | undefined]>([
  [{}, 'http', undefined],
  [{ HTTP_PROXY: 'http://one:1' }, 'http', 'http://one:1/'],
  [{ HTTP_PROXY: 'http://one:1' }, 'https', undefined],
  [{ HTTP_PROXY: 'http://one:1', http_proxy: 'http://two:2' }, 'http', 'http://two:2/'],
  [{ HTTPS_PROXY: '', ALL_PROXY: 'http://all:3' }, 'https', 'http://all:3/'],
  [{ https_proxy: 'bare:4' }, 'https', 'http://bare:4/'],
  [{ https_proxy: 'http://one:1', no_proxy: 'other.test,acme.test' }, 'https', undefined],
])('%j names the proxy for %s: %s', (env, scheme, url) => {
  expect(proxyBefore(env, { scheme, host: 'acme.test', port: 443 })?.href).toBe(url);
});

test('a proxy that is no URL is an error, not a way around it', () => {
  const place = { scheme: 'http', host: 'acme.test', port: 80 } as const;
  expect(() => proxyBefore({ http_proxy: 'http://[' }, place)).toThrow('the proxy in the environment is not a URL');
});

import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createMappedHostnames, reachedAddress, renderPac } from '../../../main/reach/mapped-hostnames.ts';

const PAC = renderPac(['shop.acme.test', 'xn--bcher-kva.example', 'acme.test'], '127.0.0.1:8080');

const ask = (pac: string, host: string, url = `https://${host}/`): unknown =>
  runInNewContext(`${pac}\nFindProxyForURL(${JSON.stringify(url)}, ${JSON.stringify(host)})`, {});

it.each<[host: string, answer: string]>([
  ['shop.acme.test', 'PROXY 127.0.0.1:8080'],
  ['acme.test', 'PROXY 127.0.0.1:8080'],
  ['SHOP.Acme.Test', 'PROXY 127.0.0.1:8080'],
  ['shop.acme.test.', 'PROXY 127.0.0.1:8080'],
  ['xn--bcher-kva.example', 'PROXY 127.0.0.1:8080'],
  ['x.shop.acme.test', 'DIRECT'],
  ['hop.acme.test', 'DIRECT'],
  ['test', 'DIRECT'],
  ['example.com', 'DIRECT'],
  ['127.0.0.1', 'DIRECT'],
  ['', 'DIRECT'],
  ['__proto__', 'DIRECT'],
  ['constructor', 'DIRECT'],
  ['hasownproperty', 'DIRECT'],
])('the PAC file sends %j to %s', (host, answer) => {
  expect(ask(PAC, host)).toBe(answer);
});

it('the PAC file bypasses the proxy when nothing is served', () => {
  expect(ask(renderPac([], '127.0.0.1:8080'), 'shop.acme.test')).toBe('DIRECT');
  const wild = renderPac(['*.acme.test'], '127.0.0.1:8080');
  expect(ask(wild, 'any.acme.test')).toBe('PROXY 127.0.0.1:8080');
  expect(['acme.test', 'a.any.acme.test', 'acme'].map((host) => ask(wild, host))).toEqual(Array(3).fill('DIRECT'));
});

it('the PAC file is the JavaScript of 1999: no const, no arrow, no trailing comma', () => {
  expect(PAC).not.toMatch(/\b(const|let)\b|=>|,\s*\}|`/);
});

const mapped = createMappedHostnames();
const route = (hostname: string, kind: 'api' | 'upstream') => ({ hostname, projectId: 'prj_1', target: { kind } });
mapped.publish({
  routes: [
    route('app.acme.test', 'upstream'),
    ...['shop.acme.test', 'xn--bcher-kva.example', '*.acme.test', '*.wild.test'].map((name) => route(name, 'api')),
  ],
});
const names = ['www', 'app', 'shop', 'app2', '*'].map((label) => `${label}.acme.test`);
const isAttached = (name: string) => [...names, '*.wild.test'].includes(name);
const facts = { mapped, isSecure: (name: string) => name !== 'app.acme.test', isAttached };
const urlOf = (hostname: string, path?: string): string => reachedAddress(hostname, { path }, facts).url;

it.each(['http', 'https'] as const)('a scheme that is asked for is kept: %s', (scheme) => {
  for (const hostname of ['app.acme.test', 'shop.acme.test'])
    expect(reachedAddress(hostname, { scheme, path: '/' }, facts).url).toBe(`${scheme}://${hostname}/`);
});

it.each<[hostname: string, path: string | undefined, url: string]>([
  ['shop.acme.test', undefined, 'https://shop.acme.test/v1/openapi.json'],
  ['Shop.ACME.test.', undefined, 'https://shop.acme.test/v1/openapi.json'],
  ['shop.acme.test', '/v1/pets?limit=1', 'https://shop.acme.test/v1/pets?limit=1'],
  // No certificate yet.
  ['app.acme.test', undefined, 'http://app.acme.test/'],
  ['bücher.example', undefined, 'https://xn--bcher-kva.example/v1/openapi.json'],
  // One of the hostnames under a wildcard that are not attached themselves.
  ['*.wild.test', undefined, 'https://www.wild.test/v1/openapi.json'],
  ['*.ACME.test.', '/', 'https://app3.acme.test/'],
])('%s with path %s is %s', (hostname, path, url) => {
  expect(urlOf(hostname, path)).toBe(url);
});

it.each(['nope.example.test', '*.nope.test', 'a.*.acme.test', '**.acme.test', '127.0.0.1', 'a b', ''])(
  '%j is not served, and the error says what to do',
  (hostname) => {
    expect(() => urlOf(hostname)).toThrow(/Nothing is served at .*Attach it to a project/);
  },
);

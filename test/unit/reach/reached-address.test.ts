import { expect, it } from 'vitest';
import { createMappedHostnames, reachedAddress } from '../../../main/reach/mapped-hostnames.ts';

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
const urlOf = (hostname: string, path?: string): string =>
  reachedAddress(hostname, { path }, { mapped, isSecure: (name) => name !== 'app.acme.test', isAttached }).url;

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

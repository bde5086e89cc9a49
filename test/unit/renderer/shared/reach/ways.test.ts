import { expect, it } from 'vitest';
import { environmentOf } from '../../../../../renderer/shared/reach/connecting.svelte.ts';

it.each([
  ['demo.vivarium.localhost', 'production'],
  ['demo-staging.vivarium.localhost', 'staging'],
  ['www.acme.test', undefined],
  ['other.vivarium.localhost', undefined],
])('the environment of %s is %s', (hostname, environment) => {
  const found = environmentOf(hostname, [{ slug: 'demo' }], 'vivarium.localhost');
  expect(found?.current).toBe(environment);
  expect(found === undefined || found.hostnames[found.current] === hostname).toBe(true);
});

import { expect, it } from 'vitest';
import { withSecret } from '../../../../../renderer/shared/project/request-key.ts';
import { isOf } from '../../../../../renderer/shared/reach/connecting.svelte.ts';

it.each([
  ['demo.vivarium.localhost', true],
  ['demo-staging.vivarium.localhost', true],
  ['www.acme.test', false],
  ['other.vivarium.localhost', false],
])('%s is one of the project’s: %s', (hostname, expected) => {
  expect(isOf({ slug: 'demo' }, hostname, 'vivarium.localhost')).toBe(expected);
});

it.each([
  ['"Bearer $VIVARIUM_KEY"', '"Bearer viv_x"'],
  [`{"Authorization": f"Bearer {os.environ['VIVARIUM_KEY']}"}`, '{"Authorization": f"Bearer viv_x"}'],
  ['"Bearer "+os.Getenv("VIVARIUM_KEY")', '"Bearer "+"viv_x"'],
  [`"Bearer #{ENV.fetch('VIVARIUM_KEY')}"`, '"Bearer viv_x"'],
])('a copied %s has the secret', (text, expected) => expect(withSecret(text, 'viv_x')).toBe(expected));

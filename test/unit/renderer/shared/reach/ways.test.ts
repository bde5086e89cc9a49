import { expect, it } from 'vitest';
import { secretFor, withSecret } from '../../../../../renderer/shared/project/request-key.ts';
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

it('a banned key is not copied, but a new one', async () => {
  const usage = [{ keyId: 'key_1', bannedUntil: '2030-01-01T00:00:00.000Z' }];
  const keys = {
    readable: () => ({ keyId: 'key_1', secret: 'viv_old' }),
    create: () => ({ id: 'key_2', secret: 'viv_new' }),
  };
  const copy = () => {
    const session = { secrets: { of: () => [], hold() {} }, client: { keys, limits: { usage: () => usage } } };
    return secretFor(session as never, { done() {} } as never, 'prj_1');
  };
  expect(await copy()).toBe('viv_new');
  usage.pop();
  expect(await copy()).toBe('viv_old');
});

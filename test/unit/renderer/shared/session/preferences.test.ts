// @vitest-environment ./test/support/page-environment.ts
import { expect, it } from 'vitest';
import { Preferences } from '../../../../../renderer/shared/session/preferences.svelte.ts';
import { createMemoryStorage } from '../../../../../renderer/shared/session/storage.ts';

it('pages remember values by name between visits, until they forget them; invalid JSON counts as missing', () => {
  const storage = createMemoryStorage();
  const open = () => new Preferences(storage, () => undefined).views;
  open().keep('split.dns', 30);
  open().keep('split.pets', 40);
  open().keep('split.pets', undefined);
  storage.setItem('vivarium.view.commands', '{');
  expect(['split.dns', 'split.pets', 'commands'].map((name) => open().read(name))).toEqual([30, undefined, undefined]);
});

// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { Preferences } from '../../../renderer/state/preferences.svelte.ts';
import { createMemoryStorage } from '../../../renderer/state/storage.ts';

const open = (storage = createMemoryStorage()) => new Preferences(storage, () => undefined);

describe('the preferences', () => {
  it('keep the widths of lists between visits, within bounds, until they are put back', () => {
    const storage = createMemoryStorage();
    const preferences = open(storage);
    preferences.rememberSplit('dns', 30);
    preferences.rememberSplit('domains', 99);
    preferences.rememberSplit('pets', 3);
    preferences.rememberSplit('dns', undefined);
    const next = open(storage);
    expect(['dns', 'domains', 'pets'].map((name) => next.splitOf(name))).toEqual([undefined, 80, 15]);
  });

  it('keep the latest commands, each once', () => {
    const storage = createMemoryStorage();
    const preferences = open(storage);
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'a']) preferences.rememberCommand(id);
    expect(open(storage).recentCommands).toEqual(['a', 'g', 'f', 'e', 'd', 'c']);
  });

  it.each(['{', '7', '{"dns":900}', '[1,null]', '{"dns":"50"}'])('ignore what is not theirs: %s', (text) => {
    const storage = createMemoryStorage();
    storage.setItem('vivarium.splits', text);
    storage.setItem('vivarium.recent-commands', text);
    const preferences = open(storage);
    expect([preferences.splitOf('dns'), preferences.recentCommands]).toEqual([undefined, []]);
  });
});

// @vitest-environment ./test/support/page-environment.ts
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';
import { Commands, type Command } from '../../../../../renderer/shared/navigation/commands.svelte.ts';
import { keysOf, readPress } from '../../../../../renderer/shared/navigation/shortcut.ts';
import { createFakeClock } from '../../../../support/fake-clock.ts';

const NONE = { ctrlKey: false, metaKey: false, altKey: false };
const key = (name: string, rest: Partial<typeof NONE> = {}) => ({ key: name, ...NONE, ...rest });

function setUp(options: { isMac?: boolean; singleKeys?: boolean } = {}) {
  const time = createFakeClock();
  const { isMac = false, singleKeys = true } = options;
  const commands = new Commands({ time, isMac, singleKeys: () => singleKeys });
  const ran: string[] = [];
  const command = (id: string, shortcut?: string): Command => ({
    id,
    title: id,
    group: 'Test',
    ...(shortcut !== undefined && { shortcut }),
    run: () => ran.push(id),
  });
  return { time, commands, ran, command };
}

describe('a key press', () => {
  it.each([
    [key('k', { ctrlKey: true }), false, 'mod+k'],
    [key('K', { ctrlKey: true }), false, 'mod+k'],
    [key('k', { metaKey: true }), true, 'mod+k'],
    [key('?'), false, '?'],
    [key('Escape'), false, 'Escape'],
    [key('Shift'), false, null],
    [key('k', { altKey: true }), false, null],
    [key('k', { metaKey: true }), false, null],
    [key('k', { ctrlKey: true }), true, null],
  ])('%o (mac: %s) is %s', (event, isMac, word) => {
    expect(readPress(event, isMac)).toBe(word);
  });

  it('is drawn as on the keyboard', () => {
    expect(keysOf('mod+k', false)).toEqual([['Ctrl', 'K']]);
    expect(keysOf('mod+k', true)).toEqual([['⌘', 'K']]);
    expect(keysOf('g p', false)).toEqual([['G'], ['P']]);
  });
});

describe('a key press that no command handles', () => {
  it('is kept while commands are loading: only the first one, which runs once they have loaded', async () => {
    const { commands, ran, command } = setUp();
    commands.offer(() => [command('clock', 't')]);
    const arrive = commands.hold();
    expect(commands.press(key('n'), false)).toBe(true);
    expect(commands.press(key('t'), false)).toBe(true);
    expect(commands.press(key('p'), false)).toBe(true);
    expect(commands.press(key('x', { ctrlKey: true }), false)).toBe(false);
    expect(commands.press(key('x'), true)).toBe(false);
    arrive();
    commands.offer(() => [command('new', 'n'), command('projects', 'p')]);
    await tick();
    await tick();
    expect(ran).toEqual(['new']);
    expect(commands.press(key('z'), false)).toBe(false);
  });

  it('runs nothing when single keys are turned off', () => {
    const { commands } = setUp({ singleKeys: false });
    commands.hold();
    expect(commands.press(key('n'), false)).toBe(false);
  });
});

describe('commands', () => {
  it('run at their shortcut, including keys one after another', async () => {
    const { commands, ran, command, time } = setUp();
    commands.offer(() => [command('pets', 'g p'), command('palette', 'mod+k')]);
    expect(commands.press(key('g'), false)).toBe(true);
    expect(commands.press(key('p'), false)).toBe(true);
    expect(commands.press(key('k', { ctrlKey: true }), false)).toBe(true);
    expect(commands.press(key('p'), false)).toBe(false);
    commands.press(key('g'), false);
    await time.pass(1_300);
    expect(commands.press(key('p'), false)).toBe(false);
    expect(ran).toEqual(['pets', 'palette']);
  });

  it('ignore plain keys during typing, and when these are turned off', () => {
    const typing = setUp();
    typing.commands.offer(() => [typing.command('help', '?'), typing.command('palette', 'mod+k')]);
    expect(typing.commands.press(key('?'), true)).toBe(false);
    expect(typing.commands.press(key('k', { ctrlKey: true }), true)).toBe(true);
    const off = setUp({ singleKeys: false });
    off.commands.offer(() => [off.command('help', '?')]);
    expect(off.commands.press(key('?'), false)).toBe(false);
  });

  it('with the same id are the latest registered, until it is removed', () => {
    const { commands, ran, command } = setUp();
    commands.offer(() => [command('search', '/')]);
    const takeBack = commands.offer(() => [{ ...command('search', '/'), run: () => ran.push('latest') }]);
    commands.press(key('/'), false);
    takeBack();
    commands.press(key('/'), false);
    expect(ran).toEqual(['latest', 'search']);
    expect(commands.all).toHaveLength(1);
  });
});

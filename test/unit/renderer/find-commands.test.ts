import { describe, expect, it } from 'vitest';
import type { Command } from '../../../renderer/commands/commands.svelte.ts';
import { findCommands } from '../../../renderer/commands/find-commands.ts';

const command = (group: string, title: string, ...keywords: string[]): Command => ({
  id: title,
  title,
  group,
  keywords,
  run: () => undefined,
});

const COMMANDS = [
  command('Projects', 'Switch to Happy Paws', 'happy-paws'),
  command('Projects', 'New project', 'create', 'add'),
  command('Pages', 'Go to Pets'),
  command('Pages', 'Go to Domains'),
  command('Clock', 'Forward by 1 day', 'time', 'advance'),
];

const found = (text: string) =>
  findCommands(COMMANDS, text).map(([group, commands]) => [group, commands.map(({ title }) => title)]);

describe('finding a command', () => {
  it('lists all of them, by group, when nothing is typed', () => {
    expect(found(' ').map(([group]) => group)).toEqual(['Projects', 'Pages', 'Clock']);
  });

  it.each([
    ['go to d', [['Pages', ['Go to Domains']]]],
    ['PETS', [['Pages', ['Go to Pets']]]],
    ['advance', [['Clock', ['Forward by 1 day']]]],
    ['create project', [['Projects', ['New project']]]],
    ['paws', [['Projects', ['Switch to Happy Paws']]]],
    ['omain', [['Pages', ['Go to Domains']]]],
    ['zebra', []],
  ])('finds by “%s”', (text, groups) => {
    expect(found(text)).toEqual(groups);
  });

  it('puts what begins with the text first, in its group and among the groups', () => {
    const commands = [
      ...COMMANDS,
      command('Projects', 'Forget the project'),
      command('Clock', 'Freeze, then go forward'),
    ];
    expect(findCommands(commands, 'forw').map(([group, [first]]) => [group, first?.title])).toEqual([
      ['Clock', 'Forward by 1 day'],
    ]);
    expect(findCommands(commands, 'project').map(([group]) => group)).toEqual(['Projects']);
    expect(findCommands(commands, 'go').map(([group]) => group)).toEqual(['Pages', 'Clock']);
  });
});

import { describe, expect, it } from 'vitest';
import type { Command } from '../../../../../renderer/shared/navigation/commands.svelte.ts';
import {
  findCommands,
  GROUP_MAX,
  readRecent,
  type FoundGroup,
} from '../../../../../renderer/app/palette/find-commands.ts';

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

const titlesIn = ({ title, items }: FoundGroup) => [title, items.map(({ command }) => command.title)] as const;

const found = (text: string) => findCommands(COMMANDS, text).map(titlesIn);

/** The title with its matched letters in brackets. */
function marked(text: string): string[] {
  return findCommands(COMMANDS, text)
    .flatMap(({ items }) => items)
    .map(({ command, title }) => {
      const marks = title.toReversed();
      return marks.reduce(
        (shown, [from, to]) => `${shown.slice(0, from)}[${shown.slice(from, to)}]${shown.slice(to)}`,
        command.title,
      );
    });
}

describe('finding a command', () => {
  it('lists all of them, by group, when nothing is typed', () => {
    expect(found(' ').map(([group]) => group)).toEqual(['Pages', 'Projects', 'Clock']);
  });

  it.each([
    ['go to d', [['Pages', ['Go to Domains']]]],
    ['PETS', [['Pages', ['Go to Pets']]]],
    ['advance', [['Clock', ['Forward by 1 day']]]],
    ['create project', [['Projects', ['New project']]]],
    ['paws', [['Projects', ['Switch to Happy Paws']]]],
    ['omain', [['Pages', ['Go to Domains']]]],
    ['hapy paws', [['Projects', ['Switch to Happy Paws']]]],
    ['gtd', [['Pages', ['Go to Domains']]]],
    // A word of its letters may leave out two in a row.
    ['dmns', [['Pages', ['Go to Domains']]]],
    ['dms', []],
    ['zebra', []],
  ])('finds by “%s”', (text, groups) => {
    expect(found(text)).toEqual(groups);
  });

  it('puts matches at the beginning first, in their group and among the groups', () => {
    const commands = [
      ...COMMANDS,
      command('Projects', 'Forget the project'),
      command('Clock', 'Freeze, then go forward'),
    ];
    expect(findCommands(commands, 'forw').map(({ title, items }) => [title, items[0]?.command.title])).toEqual([
      ['Clock', 'Forward by 1 day'],
    ]);
    expect(findCommands(commands, 'project').map(({ title }) => title)).toEqual(['Projects']);
    expect(findCommands(commands, 'go').map(({ title }) => title)).toEqual(['Pages', 'Clock']);
  });

  it('marks the letters that matched', () => {
    expect(marked('paws hapy')).toEqual(['Switch to [Hap]p[y] [Paws]']);
    expect(marked('go pet')).toEqual(['[Go] to [Pet]s']);
    expect(marked('GTD')).toEqual(['[G]o [t]o [D]omains']);
  });

  it('lists the recent ones first without text, and above equal matches with text', () => {
    const recent = ['Go to Domains', 'gone'];
    expect(findCommands(COMMANDS, '', recent).map(titlesIn).slice(0, 1)).toEqual([['Recent', ['Go to Domains']]]);
    expect(findCommands(COMMANDS, 'go to', recent).map(titlesIn)).toEqual([['Pages', ['Go to Domains', 'Go to Pets']]]);
  });

  it.each([
    [
      ['a', 'g', 'f', 'e', 'd', 'c', 'b', 'a'],
      ['a', 'g', 'f', 'e', 'd', 'c'],
    ],
    [[1, null, 'a'], ['a']],
    [{ 0: 'a' }, []],
    [undefined, []],
  ])('remembers the latest ones, each once: %j', (kept, recent) => {
    expect(readRecent(kept)).toEqual(recent);
  });

  it('shows a limited part of a group and its size, and search-only commands only for a search', () => {
    const many = Array.from({ length: 300 }, (_, index) => ({
      ...command('Domains', `shop-${index}.test`),
      searched: true,
    }));
    expect(findCommands(many, '')).toEqual([]);
    const [group] = findCommands(many, 'shop');
    expect([group?.items.length, group?.hidden]).toEqual([GROUP_MAX, 300 - GROUP_MAX]);
    const loose = command('Projects', 'Show all projects');
    expect(findCommands([loose, ...many], 'shop').map(({ title }) => title)).toEqual(['Domains']);
    expect(findCommands(many, 'shop 299')[0]?.items.map(({ id }) => id)).toEqual(['shop-299.test']);
  });

  it('makes the commands of the few things that fit best, and counts the others', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `shop-${index}.test`);
    const made: number[] = [];
    const commandsAt = (index: number) => {
      made.push(index);
      return [command('Domains', names[index] ?? ''), command('Actions', `Verify ${names[index]}`)];
    };
    const families = [{ names, words: 'verify', commandsAt }];
    const shown = (text: string) =>
      findCommands([], text, [], families).map(({ title, items, hidden }) => [title, items.length, hidden]);
    expect(shown('shop')).toEqual([
      ['Domains', GROUP_MAX, names.length - GROUP_MAX],
      ['Actions', GROUP_MAX, names.length - GROUP_MAX],
    ]);
    expect(shown('verify 9999')).toEqual([['Actions', 1, 0]]);
    expect(made.length).toBe(GROUP_MAX + 1);
    expect(shown('')).toEqual([]);
  });
});

import type { Command } from './commands.svelte.ts';

/** How well a command matches the typed text; 0 is no match. */
function fitOf({ title, group, keywords = [] }: Command, text: string): number {
  const name = title.toLowerCase();
  if (name.startsWith(text)) return 4;
  const words = text.split(/\s+/);
  const begins = (searchText: string, word: string): boolean =>
    searchText.startsWith(word) || searchText.includes(` ${word}`);
  if (words.every((word) => begins(name, word))) return 3;
  const known = [name, group, ...keywords].join(' ').toLowerCase();
  if (words.every((word) => begins(known, word))) return 2;
  return words.every((word) => known.includes(word)) ? 1 : 0;
}

/**
 * The commands that match `text`, by group; all when it is blank. The best group comes first, and within a group the
 * best command; ties keep their order.
 */
export function findCommands(commands: readonly Command[], text: string): [group: string, commands: Command[]][] {
  const wanted = text.trim().toLowerCase();
  const fitting = commands
    .map((command) => ({ command, fit: wanted === '' ? 1 : fitOf(command, wanted) }))
    .filter(({ fit }) => fit > 0);
  const groups = [...Map.groupBy(fitting, ({ command }) => command.group)].map(
    ([group, members]) => [group, members.toSorted((a, b) => b.fit - a.fit)] as const,
  );
  return groups
    .toSorted(([, a], [, b]) => (b[0]?.fit ?? 0) - (a[0]?.fit ?? 0))
    .map(([group, members]) => [group, members.map(({ command }) => command)]);
}

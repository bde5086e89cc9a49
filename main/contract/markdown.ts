/** Markdown of reports, for a pull request. Without schemas, because the page uses it too. */

/** Text in one line that Markdown does not read (CommonMark 2.4). */
export const escaped = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>#|~&!]/g, '\\$&').replaceAll(/\s+/g, ' ');

/** Formats any text as a code span (CommonMark 6.1). */
export function code(text: string): string {
  const fence = '`'.repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return `${fence} ${text} ${fence}`;
}

/** The lines of a table; what is in its rows is escaped. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `|${head.map((cell) => ` ${cell} `.replace('  ', ' ')).join('|')}|`,
  `|${'---|'.repeat(head.length)}`,
  ...rows.map((cells) => `| ${cells.map(escaped).join(' | ')} |`),
];

/** One word of a POSIX shell. */
export const posixWord = (word: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** One string of PowerShell, in which nothing is expanded. */
export const powerShellString = (word: string): string => `'${word.replaceAll("'", "''")}'`;

/** The commands that an error message names: the indented lines at its end. */
export const commandsOf = (message: string): string[] =>
  message
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .map((line) => line.trim());

import { hasOwn } from '../base/program-folder.ts';
import { shellWord } from '../base/shell.ts';

/** In a clone of the sources, where npm provides the command; absent in an installed Vivarium. */
const LAUNCHER = ['main', 'cli', 'launch.mjs'] as const;

/**
 * Turns `vivarium clock reset` into a pasteable command: for the way this program runs, and for this data folder (null:
 * the default one).
 */
export function ownCommand(dataDir: string | null): (command: string) => string {
  const isClone = hasOwn(...LAUNCHER);
  return (command) => {
    const words = isClone ? command.replace(/^vivarium /, 'npm run vivarium -- ') : command;
    return dataDir === null || command.includes(' --data-dir ')
      ? words
      : `${words} --data-dir ${shellWord(dataDir, process.platform)}`;
  };
}

import { hasOwn } from '../base/program-folder.ts';
import { shellWord } from '../base/shell.ts';

/** In a clone of the sources, where the command is npm's; an installed Vivarium has none of it. */
const LAUNCHER = ['main', 'cli', 'launch.mjs'] as const;

/**
 * `vivarium clock reset` as it can be pasted: as this program is run, and for this data folder, or null for the one that is
 * meant when none is named.
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

import { shellWord } from '../base/shell.ts';

/** A command as data: it can be run, shown, and tested on a system that does not have it. */
export interface Command {
  /** A name to be found in PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Whether somebody has to type a password; Vivarium does not run such a command, it shows it. */
  readonly needsPassword: boolean;
  /** What it does, as a clause: "adds the root". */
  readonly explains: string;
  /** Whether the system asks its user in a window before it goes on, so that it may take minutes. */
  readonly asks?: boolean;
}

export interface CommandResult {
  /** Null when it was ended by a signal. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** @throws VivariumError unavailable when the command cannot be started, takes too long or says too much. */
export type RunCommand = (command: Command) => Promise<CommandResult>;

/** Commands as one line to paste into the system's shell: bash or zsh; PowerShell on Windows. */
export function pasteable(commands: readonly Pick<Command, 'command' | 'args'>[], platform: NodeJS.Platform): string {
  const windows = platform === 'win32';
  const lines = commands.map(({ command, args }) => {
    const words = [command, ...args].map((word) => shellWord(word, platform)).join(' ');
    // PowerShell takes a quoted first word for a text, not a command.
    return windows && /^["'(]/.test(words) ? `& ${words}` : words;
  });
  // PowerShell 5 has no &&.
  return lines.join(windows ? '; ' : ' && ');
}

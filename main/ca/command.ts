import { shellWord } from '../base/shell.ts';

/** A command as data, which can be run, displayed, and tested on other systems. */
export interface Command {
  /** A name to look up in PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Whether it asks for a password; Vivarium displays such a command and does not run it. */
  readonly needsPassword: boolean;
  /** Its effect, as a clause: "adds the root". */
  readonly explains: string;
  /** Whether the system asks the user in a dialogue, which may take minutes. */
  readonly asks?: boolean;
}

export interface CommandResult {
  /** Null when a signal ended it. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** @throws VivariumError unavailable when the command cannot be started, times out, or prints too much. */
export type RunCommand = (command: Command) => Promise<CommandResult>;

/** Commands as one line to paste into a shell: bash or zsh; PowerShell on Windows. */
export function pasteable(commands: readonly Pick<Command, 'command' | 'args'>[], platform: NodeJS.Platform): string {
  const windows = platform === 'win32';
  const lines = commands.map(({ command, args }) => {
    const words = [command, ...args].map((word) => shellWord(word, platform)).join(' ');
    // PowerShell evaluates a quoted first word as a string, not a command.
    return windows && /^["'(]/.test(words) ? `& ${words}` : words;
  });
  // PowerShell 5 has no &&.
  return lines.join(windows ? '; ' : ' && ');
}

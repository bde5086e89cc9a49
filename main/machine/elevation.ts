import { posixWord, powerShellString, shellWord } from '../base/text/shell.ts';

/** A program to start, without a shell. */
export interface Program {
  command: string;
  args: readonly string[];
  /** The effect, as a clause. */
  explains: string;
  /** Whether the system shows a dialogue, which may take minutes. */
  asks: boolean;
}

export interface Rights {
  platform: NodeJS.Platform;
  /** Whether this process may change the system itself: user id 0. */
  privileged: boolean;
  /** The path of `pkexec`; null without it, or without a desktop for its prompt. */
  pkexec: string | null;
}

const EXPLAINS = 'changes the system’s files';

/** The program that runs a script with the system's prompt; null if the user must paste the command. */
export function programFor(script: string, words: readonly string[], rights: Rights): Program | null {
  const { platform, privileged, pkexec } = rights;
  const of = (command: string, args: readonly string[], asks: boolean) => ({ command, args, explains: EXPLAINS, asks });
  if (platform === 'win32') {
    const list = ['-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', `"${script}"`, ...words].map(powerShellString);
    const start = `$p = Start-Process powershell -Verb RunAs -Wait -PassThru -WindowStyle Hidden -ArgumentList ${list.join(',')}; exit $p.ExitCode`;
    return of('powershell.exe', ['-NoProfile', '-Command', start], true);
  }
  if (privileged) return of('/bin/sh', [script, ...words], false);
  if (platform === 'darwin') {
    // AppleScript: do shell script … with administrator privileges.
    const shell = ['/bin/sh', script, ...words].map(posixWord).join(' ');
    const text = shell.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    return of('/usr/bin/osascript', ['-e', `do shell script "${text}" with administrator privileges`], true);
  }
  return pkexec === null ? null : of(pkexec, ['/bin/sh', script, ...words], true);
}

/** The same as a command to paste into a terminal. */
export const pasteFor = (script: string, words: readonly string[], { platform }: Rights): string =>
  (platform === 'win32'
    ? ['powershell', '-ExecutionPolicy', 'Bypass', '-File', script, ...words]
    : ['sudo', 'sh', script, ...words]
  )
    .map((word) => shellWord(word, platform))
    .join(' ');

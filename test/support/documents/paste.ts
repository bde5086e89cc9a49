import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { track } from '../engine.ts';
import { requireTool } from '../tools.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

export interface Said {
  command: string;
  /** Standard output and standard error in the order of a terminal. */
  text: string;
  exitCode: number;
}

const MARK = '=====';

/**
 * Shells that read commands from a pipe. zsh is interactive, as on macOS: `#` begins no comment there, `!` is history,
 * and an open quotation mark includes the following lines.
 */
const SHELLS = {
  bash: { words: ['--norc'], exitCode: '$?' },
  zsh: { words: ['-f', '-i', '+o', 'prompt_cr', '+o', 'prompt_sp'], exitCode: '$?' },
  fish: { words: ['--no-config'], exitCode: '$status' },
} as const;

export type PasteShell = keyof typeof SHELLS;

export interface PasteOptions {
  shell?: PasteShell;
  /** By default the project's folder. */
  folder?: string;
}

/** Pastes commands into one shell, and returns the output of each. */
export async function paste(
  commands: readonly string[],
  env: Record<string, string>,
  { shell: name = 'bash', folder = ROOT }: PasteOptions = {},
): Promise<Said[]> {
  const { words, exitCode } = SHELLS[name];
  // One pipe for both outputs keeps them in the order in which they were written; cat, because fish reads no socket.
  const shell = spawn('sh', ['-c', 'cat | "$@" 2>&1', 'sh', requireTool(name), ...words], {
    cwd: folder,
    stdio: 'pipe',
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', PS1: '', PS2: '', ...env },
  });
  track(() => void shell.kill('SIGKILL'));
  let said = '';
  shell.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise((resolve) => shell.once('close', resolve));
  const lines = commands.flatMap((command) => [command, `echo "${MARK}${exitCode}"`]);
  shell.stdin.end([...lines, ''].join('\n'));
  await ended;
  const parts = said.split(new RegExp(`${MARK}(\\d+)\n`));
  return commands.map((command, index) => ({
    command,
    text: parts[2 * index] ?? '',
    exitCode: Number(parts[2 * index + 1] ?? Number.NaN),
  }));
}

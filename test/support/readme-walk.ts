import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { track } from './engine.ts';
import { startProgram } from './program.ts';
import { requireTool } from './tools.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The commands of the first block of shell lines under a heading of the README, or another page; one that is continued is one. */
export function readmeCommands(heading: string, page = 'README.md'): string[] {
  const readme = readFileSync(join(ROOT, page), 'utf8');
  const block = new RegExp(`^## ${heading}$[^]*?^\`\`\`sh\n([^]*?)^\`\`\``, 'm').exec(readme)?.[1];
  if (block === undefined) throw new Error(`${page} has no shell lines under "${heading}".`);
  return commandsOf(block);
}

/** The commands of all blocks of shell lines of a page of `docs`, from top to bottom. */
export function pageCommands(name: string): string[] {
  const page = readFileSync(join(ROOT, 'docs', `${name}.md`), 'utf8');
  return [...page.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block = '']) => commandsOf(block));
}

/** The commands of a text of shell lines; one that is continued is one. */
export const commandsOf = (block: string): string[] =>
  block
    .replaceAll('\\\n', '\\\0')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.replaceAll('\0', '\n'));

/** The numbered steps under a heading of the README, each as one line. */
export function readmeSteps(heading: string): string[] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const section = new RegExp(`^## ${heading}$\n([^]*?)^## `, 'm').exec(readme)?.[1] ?? '';
  const steps = [...section.matchAll(/^\d+\. ([^]*?)\n(?=\d+\. |\n)/gm)].map(([, step = '']) =>
    step.replaceAll(/\s+/g, ' '),
  );
  if (steps.length === 0) throw new Error(`The README has no numbered steps under "${heading}".`);
  return steps;
}

export interface Said {
  command: string;
  /** Standard output and standard error as they come in a terminal. */
  text: string;
  exitCode: number;
}

const MARK = '=====';

/**
 * Shells that read commands from a pipe. zsh is interactive, as macOS has it: `#` begins no comment there, `!` is history, and an open
 * quotation mark takes the following lines along.
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

/** Pastes commands into one shell, and gives what each of them said. */
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

/**
 * What commands of the documentation say to a program on free ports and a folder of its own: exit code and text. `ports`
 * stand in for those that the documentation names beside Vivarium's.
 */
export async function walk(
  commands: readonly string[],
  ports: Readonly<Record<number, number>> = {},
): Promise<{ command: string; outcome: string }[]> {
  ['curl', 'dig'].forEach(requireTool);
  const { runtime, dataDir, output } = await startProgram();
  const actual = { 8080: runtime.http.port, 8443: runtime.https.port, 5380: runtime.dns.port, ...ports };
  // At once: a port that was put in must not be taken for one that is to be replaced.
  const named = new RegExp(Object.keys(actual).join('|'), 'g');
  const here = (command: string) =>
    command
      .replaceAll('~/.local/share/vivarium', dataDir)
      .replaceAll(named, (port) => String(actual[Number(port) as keyof typeof actual]));
  const said = await paste(commands.map(here), {
    VIVARIUM_DATA_DIR: dataDir,
    KEY: /viv_\w+/.exec(output().stdout)?.[0] ?? '',
  });
  return said.map(({ command, text, exitCode }) => ({ command, outcome: `${exitCode}\n${text.trim()}` }));
}

/** Each command by its beginning, and what comes of it: the exit code, then what is said. */
export function expectWalk(
  said: readonly { command: string; outcome: string }[],
  expected: readonly (readonly [command: string, outcome: RegExp])[],
): void {
  expect(said.map(({ command }, index) => command.slice(0, expected[index]?.[0].length))).toEqual(
    expected.map(([command]) => command),
  );
  expect(said.map(({ outcome }) => outcome)).toEqual(
    expected.map(([, outcome]) => expect.stringMatching(outcome) as string),
  );
}

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { RUNTIME_FILE, type RuntimeFile } from '../../../main/base/config.ts';
import { defaultDataDir } from '../../../main/base/system/data-dir.ts';
import { type CommandHereOptions, runHere } from '../cli-io.ts';
import { track } from '../engine.ts';
import { PROGRAM } from '../program.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { requireTool } from '../tools.ts';
import { type PasteShell, type Said, paste } from './paste.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The README, and the guides in the order of their first mention there. */
export const README = 'README.md';
export const GUIDES: readonly string[] = [
  ...new Set([...read(README).matchAll(/^\| \[[^\]]+\]\((docs\/[\w-]+\.md)\)/gm)].map(([, page = '']) => page)),
];

/** The beginning of a command, its exit code, and its output. */
export type Expected = readonly [command: string, outcome: RegExp];

/** The ports of a start that names none. */
const FREE_PORTS = {
  VIVARIUM_HTTP_PORT: '0',
  VIVARIUM_HTTPS_PORT: '0',
  VIVARIUM_DNS_PORT: '0',
  VIVARIUM_CONTROL_PORT: '0',
};

/**
 * Installing, and programs in the foreground, are tested separately: `test/integration/engine/first-commands.test.ts`
 * and `test/e2e/newcomer.test.ts`.
 */
const NOT_PASTED = /^(?:npm |export PATH=|vivarium run (?!.* --as ))/;

/** The commands in the blocks of `sh` of a page, from top to bottom. */
export function commandsOf(page: string, blocks?: number): string[] {
  return [...read(page).matchAll(/^```sh\n([^]*?)^```/gm)]
    .slice(0, blocks)
    .flatMap(([, block = '']) => block.split('\n'))
    .filter((command) => command.trim() !== '');
}

const pastedFrom = ([page, blocks]: PastedPage): string[] =>
  commandsOf(page, blocks).filter((command) => !NOT_PASTED.test(command));

/** A page, and how many of its first blocks are pasted; without the number, all of them. */
export type PastedPage = readonly [page: string, blocks?: number];

/** Pages with the results of their commands, in the order in which they are pasted into one shell. */
export interface Pass {
  shell: PasteShell;
  /** What the user does with Vivarium before and after the page. */
  before?: readonly Expected[];
  after?: readonly Expected[];
  pages: readonly (readonly [page: PastedPage, expected: readonly Expected[]])[];
}

/**
 * Pastes pages into shells, one pass after the other, with one Vivarium on one data folder, the usual one of a
 * temporary home folder, which has the files that the pages say to save. The first command of the first pass starts it in
 * the background, on free ports. `vivarium` is on the PATH. Browsers are stand-ins: `test/e2e/reach.test.ts` opens real ones.
 * @param ports stand in for those that the pages name beside Vivarium's.
 */
export async function expectPasted(
  passes: readonly Pass[],
  ports: Readonly<Record<number, number>> = {},
): Promise<void> {
  requireTool('curl');
  const home = temporaryFolder();
  const programs = join(home, 'bin');
  const env = {
    HOME: home,
    XDG_DATA_HOME: '',
    VIVARIUM_DATA_DIR: '',
    PATH: [programs, process.env.PATH].join(delimiter),
    VIVARIUM_BROWSER: join(programs, 'browser'),
    // No display is needed.
    VIVARIUM_BROWSER_ARGUMENTS: '--headless=new',
  };
  await makePrograms(programs, home, env);
  for (const { pages } of passes) {
    for (const [[page]] of pages) saveFilesOf(page, home);
  }
  const dataDir = defaultDataDir({ platform: process.platform, env, homeDir: home });
  const stop = (...options: string[]) =>
    void spawnSync(join(programs, 'vivarium'), ['stop', ...options], { env: { ...process.env, ...env } });
  track(() => {
    stop();
    // The second Vivarium of "Give a demo", if that page was not pasted to its end.
    stop('--data-dir', join(home, 'vivarium-demo'));
  });
  let replaced: ((command: string) => string) | null = null;
  for (const { shell, before = [], pages, after = [] } of passes) {
    const pasted = pages.flatMap(([page]) => pastedFrom(page));
    const own = (expected: readonly Expected[]) => expected.map(([command]) => command);
    const [first = '', ...rest] = [...own(before), ...pasted, ...own(after)];
    const inShell = (commands: readonly string[], more = {}) =>
      paste(commands, { ...env, ...more }, { shell, folder: home });
    const started: Said[] = replaced === null ? await inShell([first], FREE_PORTS) : [];
    const commands = replaced === null ? rest : [first, ...rest];
    replaced ??= portsOf(dataDir, ports);
    const said = [...started, ...(await inShell(commands.map(replaced)))];
    const expected = [...before, ...pages.flatMap(([, outcomes]) => outcomes), ...after];
    const beginnings = said.map(({ command }, index) => command.slice(0, expected[index]?.[0].length));
    expect(beginnings, shell).toEqual(own(expected));
    expect(
      said.map(({ text, exitCode }) => `${exitCode}\n${text.trim()}`),
      shell,
    ).toEqual(expected.map(([, outcome]) => expect.stringMatching(outcome)));
  }
}

/**
 * The words that `vivarium` and `curl` get, and their standard input, when the commands of pages are pasted into a
 * shell, one per line. Both are stand-ins that print a key, which is all that pages read from them.
 */
export async function wordsIn(shell: PasteShell, pages: readonly PastedPage[]): Promise<string[]> {
  const folder = temporaryFolder();
  const words = join(folder, 'words');
  for (const name of ['vivarium', 'curl']) {
    const piped = `case "$*" in *@-*) cat >> '${words}' ;; esac`;
    writeProgram(folder, name, `printf '%s\\n' ${name} "$@" >> '${words}'; ${piped}; echo viv_${'k'.repeat(32)}`);
  }
  const path = [folder, process.env.PATH].join(delimiter);
  await paste(pages.flatMap(pastedFrom), { HOME: folder, PATH: path }, { shell, folder });
  return readFileSync(words, 'utf8').split('\n');
}

/** Writes the files that follow a sentence such as “Save this as `rehearsal.yaml`:”. */
function saveFilesOf(page: string, folder: string): void {
  for (const [, name = '', text = ''] of read(page).matchAll(/Save this as `([\w.]+)`:\n\n```\w+\n([^]*?)^```/gm))
    writeFileSync(join(folder, name), text);
}

/** Replaces the usual ports in a command by the ports in use. */
function portsOf(dataDir: string, ports: Readonly<Record<number, number>>): (command: string) => string {
  const runtime = JSON.parse(readFileSync(join(dataDir, RUNTIME_FILE), 'utf8')) as RuntimeFile;
  const actual: Record<string, number> = { 8080: runtime.http.port, 8443: runtime.https.port, ...ports };
  // In one pass: an inserted port must not be replaced again.
  const named = new RegExp(`\\b(?:${Object.keys(actual).join('|')})\\b`, 'g');
  return (command) => command.replaceAll(named, (port) => String(actual[port]));
}

/** Fills a folder for the PATH with `vivarium`, the built program, and with browsers that open nothing. */
async function makePrograms(folder: string, homeDir: string, env: Record<string, string>): Promise<void> {
  mkdirSync(folder);
  const programs = {
    vivarium: await residentCommand(temporaryFolder(), `exec '${process.execPath}' '${PROGRAM}' "$@"`, {
      homeDir,
      env,
    }),
    // To Vivarium, a browser that ends within 1.5 s could not start; it opens at most five.
    browser: 'exec sleep 3',
    'xdg-open': 'exit 0',
    open: 'exit 0',
  };
  for (const [name, line] of Object.entries(programs)) writeProgram(folder, name, line);
}

/** A shell script on the PATH. */
export function writeProgram(folder: string, name: string, line: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Commands that start, find or end processes or engines, or print what this process would print of itself. */
const OF_A_PROCESS = ['doctor', 'examine', 'rehearse', 'run', 'start', 'stop', 'uninstall'];
/** A start without ports, of the Vivarium that runs: it is only shown. */
const SHOWN = 'start -d';

/**
 * A line of shell that runs one `vivarium` command in this process, which takes a tenth of a program's start; those that
 * are about processes run `program`.
 * @param folder for the socket and the outputs
 */
export async function residentCommand(
  folder: string,
  program: string,
  options: Pick<CommandHereOptions, 'env' | 'homeDir'>,
): Promise<string> {
  const [socket, out, err] = ['command', 'out', 'err'].map((name) => join(folder, name)) as [string, string, string];
  const server = createServer(async (request, response) => {
    const [cwd = '', dataDir = '', ...args] = (await text(request)).split('\0').slice(0, -1);
    const env = { ...options.env, VIVARIUM_DATA_DIR: dataDir };
    const { code, stdout, stderr } = await runHere(args, { ...options, env, cwd });
    writeFileSync(out, stdout);
    writeFileSync(err, stderr);
    response.end(String(code));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  track(() => void server.close());
  const asked = `curl -s --noproxy '*' --unix-socket '${socket}' --data-binary @- http://localhost/`;
  return [
    `case "$*$VIVARIUM_HTTP_PORT" in '${SHOWN}') ;; *) case $1 in ${OF_A_PROCESS.join('|')}) ${program} ;; esac ;; esac`,
    String.raw`code=$(printf '%s\0' "$PWD" "$VIVARIUM_DATA_DIR" "$@" | ${asked})`,
    `cat '${out}'; cat '${err}' >&2; exit "$code"`,
  ].join('\n');
}

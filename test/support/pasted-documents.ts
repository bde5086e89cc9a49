import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect } from 'vitest';
import { type RuntimeFile, RUNTIME_FILE } from '../../main/base/config.ts';
import { defaultDataDir } from '../../main/base/data-dir.ts';
import { findChromium } from './chromium.ts';
import { temporaryFolder, track } from './engine.ts';
import { PROGRAM } from './program.ts';
import { commandsOf, paste, type PasteShell } from './readme-walk.ts';
import { requireTool } from './tools.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The README, and the guides in the order in which it names them first. */
export const README = 'README.md';
export const GUIDES: readonly string[] = [
  ...new Set([...read(README).matchAll(/^\| \[[^\]]+\]\((docs\/[\w-]+\.md)\)/gm)].map(([, page = '']) => page)),
];

/** A command by its beginning, and what comes of it: the exit code, then what it prints. */
export type Expected = readonly [command: string, outcome: RegExp];

/** The ports of a start that names none. */
const FREE_PORTS = {
  VIVARIUM_HTTP_PORT: '0',
  VIVARIUM_HTTPS_PORT: '0',
  VIVARIUM_DNS_PORT: '0',
  VIVARIUM_CONTROL_PORT: '0',
};

/** Starting a program in the foreground is a test of its own (`test/e2e/newcomer.test.ts`). */
const FOREGROUND = /^npm start\b/;

/** What a page asks its reader to paste, from top to bottom: blocks of `sh`, and commands that begin a row of a table. */
export function pastedCommands(page: string): string[] {
  const parts = read(page).matchAll(/^```sh\n([^]*?)^```|^\| `(vivarium [^`]+)`/gm);
  return [...parts]
    .flatMap(([, block, command = '']) => (block === undefined ? [command] : commandsOf(block)))
    .filter((command) => !FOREGROUND.test(command));
}

/**
 * Pastes pages into one shell, one after the other, with one Vivarium on one data folder, the usual one of a temporary home folder. The first
 * command of the first page starts it in the background, on free ports. `vivarium` is on the PATH, and browsers that a command opens end
 * with the Vivarium.
 * @param ports stand in for those that the pages name beside Vivarium's.
 */
export async function expectPasted(
  shell: PasteShell,
  pages: readonly (readonly [page: string, expected: readonly Expected[]])[],
  ports: Readonly<Record<number, number>> = {},
): Promise<void> {
  ['curl', 'dig'].forEach(requireTool);
  const home = temporaryFolder();
  const programs = makePrograms(home);
  const env = {
    HOME: home,
    XDG_DATA_HOME: '',
    VIVARIUM_DATA_DIR: '',
    PATH: [programs, process.env.PATH].join(delimiter),
    VIVARIUM_BROWSER: findChromium(),
    // Its sandbox needs user namespaces, which containers and root do not have.
    VIVARIUM_BROWSER_ARGUMENTS: '--headless=new --no-sandbox',
  };
  const [start = '', ...commands] = pages.flatMap(([page]) => pastedCommands(page));
  track(() => void spawnSync(join(programs, 'vivarium'), ['stop'], { env: { ...process.env, ...env } }));
  const started = await paste([start], { ...env, ...FREE_PORTS }, { shell, folder: home });
  const dataDir = defaultDataDir({ platform: process.platform, env, homeDir: home });
  const runtime = JSON.parse(readFileSync(join(dataDir, RUNTIME_FILE), 'utf8')) as RuntimeFile;
  const actual: Record<string, number> = {
    8080: runtime.http.port,
    8443: runtime.https.port,
    5380: runtime.dns.port,
    4780: Number(new URL(runtime.control.url).port),
    ...ports,
  };
  // At once: a port that was put in must not be taken for one that is to be replaced.
  const named = new RegExp(`\\b(?:${Object.keys(actual).join('|')})\\b`, 'g');
  const continued = await paste(
    commands.map((command) => command.replaceAll(named, (port) => String(actual[port]))),
    env,
    { shell, folder: home },
  );
  const said = [...started, ...continued];
  const expected = pages.flatMap(([, outcomes]) => outcomes);
  const beginnings = said.map(({ command }, index) => command.slice(0, expected[index]?.[0].length));
  expect(beginnings).toEqual(expected.map(([command]) => command));
  expect(said.map(({ text, exitCode }) => `${exitCode}\n${text.trim()}`)).toEqual(
    expected.map(([, outcome]) => expect.stringMatching(outcome) as string),
  );
}

/** A folder for the PATH with `vivarium`, the built program, and with openers of the default browser that open nothing. */
function makePrograms(home: string): string {
  const folder = join(home, 'bin');
  mkdirSync(folder);
  const programs = { vivarium: `exec '${process.execPath}' '${PROGRAM}' "$@"`, 'xdg-open': 'exit 0', open: 'exit 0' };
  for (const [name, line] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

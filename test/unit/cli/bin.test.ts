import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const BIN = join(import.meta.dirname, '..', '..', '..', 'main', 'cli', 'bin.mjs');

/**
 * The installed command, with a program that prints the name it will use for itself; `name` is the installation's
 * folder.
 */
function install(name: string): { file: string; linked: (link: string) => string; ask: (file: string) => string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'vivarium-bin-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const installed = join(folder, name);
  mkdirSync(join(installed, 'main', 'cli'), { recursive: true });
  mkdirSync(join(installed, 'out', 'main'), { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"type":"module"}');
  writeFileSync(join(installed, 'out', 'main', 'vivarium.js'), 'console.log(process.env.VIVARIUM_COMMAND);');
  const file = join(installed, 'main', 'cli', 'bin.mjs');
  copyFileSync(BIN, file);
  copyFileSync(join(dirname(BIN), 'node-version.mjs'), join(dirname(file), 'node-version.mjs'));
  return {
    file,
    linked(link) {
      const path = join(folder, link);
      mkdirSync(join(path, '..'), { recursive: true });
      symlinkSync(file, path);
      return path;
    },
    ask: (asked) =>
      spawnSync(process.execPath, [asked], { env: { PATH: process.env.PATH }, encoding: 'utf8' }).stdout.trimEnd(),
  };
}

const isWindows = process.platform === 'win32';

it.skipIf(isWindows)('the installed command names itself as it was run', () => {
  const { file, linked, ask } = install('installed');
  expect(ask(linked('bin/vivarium'))).toBe('vivarium');
  expect(ask(linked('.bin/vivarium'))).toBe('npx vivarium');
  expect(ask(file)).toBe(`node ${file}`);
});

it.skipIf(isWindows)('the installed command quotes its path if a shell needs that', () => {
  const { file, ask } = install("Ada's tools");
  expect(ask(file)).toBe(`node '${file.replace("'", String.raw`'\''`)}'`);
});

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
function install(name: string): {
  file: string;
  linked: (link: string) => string;
  ask: (file: string, script?: string) => string;
} {
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
    ask(asked, npm_lifecycle_script) {
      const env = { PATH: process.env.PATH, npm_lifecycle_script };
      return spawnSync(process.execPath, [asked], { env, encoding: 'utf8' }).stdout.trimEnd();
    },
  };
}

const isWindows = process.platform === 'win32';

it.skipIf(isWindows)('the installed command names itself as it was run', () => {
  const { file, linked, ask } = install('installed');
  expect(ask(linked('bin/vivarium'))).toBe('vivarium');
  expect(ask(linked('.bin/vivarium'))).toBe('npx vivarium');
  expect(ask(file)).toBe(`node ${file}`);
  // In a dev script, which runs what the folder has, else the linked one of the shell's path.
  expect(ask(linked('linked/vivarium'), 'vivarium run shop.acme.test -- vite')).toBe('vivarium');
  expect(ask(linked('shop/.bin/vivarium'), 'vivarium run shop.acme.test -- vite')).toBe('npx vivarium');
});

it.skipIf(isWindows)('the installed command quotes its path if a shell needs that', () => {
  const { file, ask } = install("Ada's tools");
  expect(ask(file)).toBe(`node '${file.replace("'", String.raw`'\''`)}'`);
});

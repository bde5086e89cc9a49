import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const CLI = join(import.meta.dirname, '..', '..', '..', 'main', 'cli');
const BIN = join(CLI, 'bin.mjs');

/**
 * The installed command, with a program that prints the name it will use for itself; `name` is the installation's
 * folder.
 */
function install(name: string) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'vivarium-bin-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const installed = join(folder, name);
  mkdirSync(join(installed, 'main', 'cli'), { recursive: true });
  mkdirSync(join(installed, 'out', 'main'), { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"type":"module"}');
  writeFileSync(join(installed, 'out', 'main', 'vivarium.js'), 'console.log(process.env.VIVARIUM_COMMAND);');
  const file = join(installed, 'main', 'cli', 'bin.mjs');
  copyFileSync(BIN, file);
  copyFileSync(join(CLI, 'node-version.mjs'), join(dirname(file), 'node-version.mjs'));
  return {
    file,
    linked(link: string) {
      const path = join(folder, link);
      mkdirSync(join(path, '..'), { recursive: true });
      symlinkSync(file, path);
      return path;
    },
    ask(asked: string, npm_lifecycle_script?: string) {
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

/** Makes the Node that runs a script pass for a release that the engine does not run on. */
const AS_NODE_20 = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`;

/** Who runs a command of a clone that is installed and built: the process that was started, or its launcher. */
function runnerOf(words: readonly string[], more: readonly string[] = []): 'this process' | 'launcher' {
  const { file } = install('clone');
  const root = join(dirname(file), '..', '..');
  mkdirSync(join(root, 'main', 'cli', 'launch'));
  mkdirSync(join(root, 'node_modules', 'node', 'bin'), { recursive: true });
  copyFileSync(join(CLI, 'launch', 'up-to-date.mjs'), join(root, 'main', 'cli', 'launch', 'up-to-date.mjs'));
  writeFileSync(join(root, 'main', 'cli', 'launch.mjs'), "console.log('launcher');");
  writeFileSync(join(root, 'out', 'main', 'vivarium.js'), 'console.log(process.pid);');
  for (const name of ['node', 'node.exe']) writeFileSync(join(root, 'node_modules', 'node', 'bin', name), '');
  const lock = '{"packages":{}}';
  for (const name of ['package-lock.json', 'node_modules/.vivarium-install', 'node_modules/.package-lock.json'])
    writeFileSync(join(root, name), lock);
  const stamp = `import { buildStamp, listSources } from ${JSON.stringify(pathToFileURL(join(CLI, 'launch', 'up-to-date.mjs')))};
    import { writeFileSync } from 'node:fs';
    writeFileSync(buildStamp(${JSON.stringify(root)}), listSources(${JSON.stringify(root)}));`;
  spawnSync(process.execPath, ['--input-type=module', '--eval', stamp]);
  const { pid, stdout } = spawnSync(process.execPath, [...more, file, ...words], { encoding: 'utf8' });
  const said = stdout.trim();
  if (said === 'launcher') return said;
  return said === String(pid) ? 'this process' : expect.fail(stdout);
}

it.each([
  [['project', 'list'], 'this process', 'this process'],
  [['run', 'shop.acme.test', '--', 'npm', 'start'], 'this process', 'this process'],
  [['version'], 'this process', 'this process'],
  [['doctor'], 'this process', 'launcher'],
  [['start', '-d'], 'launcher', 'launcher'],
])('a clone’s command %j is run by %s, and on Node 20 by %s', (words, present, old) => {
  expect(runnerOf(words)).toBe(present);
  expect(runnerOf(words, ['--import', AS_NODE_20])).toBe(old);
});

it('a command that opens a database or starts an engine is run by the Node that is installed for it', () => {
  const opens = globSync('**/*.ts', { cwd: CLI }).filter((file) =>
    /import\('(?:\.\.\/)+offline\/|withOwnEngines(?:<Result>)?\(/.test(readFileSync(join(CLI, file), 'utf8')),
  );
  expect(opens.sort()).toEqual([
    'doctor.ts',
    // Only after a start that failed.
    'engine/start.ts',
    'run/own-engine.ts',
    'uninstall.ts',
    'world/backup.ts',
    'world/examine.ts',
    'world/rehearse-renewals.ts',
    'world/rehearse.ts',
    'world/world.ts',
  ]);
  const { 1: words = '' } = /const OPENS = \[(.*)\]/.exec(readFileSync(BIN, 'utf8')) ?? [];
  for (const word of ['doctor', 'uninstall', 'backup', 'rehearse', 'examine', 'check'])
    expect(words).toContain(`'${word}'`);
});

it('what runs on Node 20 uses nothing that it lacks', () => {
  const main = join(CLI, '..');
  const lacks =
    /Promise\.withResolvers|groupBy\(|fromAsync\(|RegExp\.escape|\busing \w+ =|\{[^}]*getCACertificates[^}]*\} from/;
  const opens = /^cli\/(?:world\/(?:rehearse|examine)|run\/own-engine|doctor\.ts)/;
  const found = globSync('{cli,children,contract}/**/*.ts', { cwd: main }).filter(
    (file) => !opens.test(file) && lacks.test(readFileSync(join(main, file), 'utf8').replaceAll(/^ *\/\/.*$/gm, '')),
  );
  expect(found).toEqual([]);
});

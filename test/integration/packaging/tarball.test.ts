import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { shellWord } from '../../../main/base/text/shell.ts';
import { isNodeNewEnough, NODE_RANGE } from '../../../main/cli/node-version.mjs';
import { installTarball, PACKING_MS_MAX } from '../../support/packaging/tarball.ts';
import { execute as run } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

let prefix: string;
let installed: string;

/** What `npm i -g` of the tarball installs, with the native database from here instead of the registry. */
beforeAll(async () => {
  prefix = mkdtempSync(join(tmpdir(), 'vivarium-tarball-'));
  installed = await installTarball(prefix);
  mkdirSync(join(prefix, 'bin'));
  symlinkSync(join(installed, 'main', 'cli', 'bin.mjs'), join(prefix, 'bin', 'vivarium'));
}, PACKING_MS_MAX);

afterAll(() => rmSync(prefix, { recursive: true, force: true }));

/** Runs the installed command as a shell does that finds it on the PATH. */
const vivarium = (...args: string[]) =>
  run(process.execPath, [join(prefix, 'bin', 'vivarium'), ...args], { cwd: temporaryFolder() });

describe('the packed tarball', () => {
  it('contains the built program and no sources', () => {
    expect(readdirSync(join(installed, 'main', 'cli'))).toEqual(['bin.mjs', 'node-version.mjs']);
    expect(readdirSync(join(installed, 'out')).sort()).toEqual(['main', 'renderer']);
    expect(readdirSync(join(installed, 'out', 'main')).filter((name) => name.endsWith('.map'))).toEqual([]);
  });

  it('has no import of node:http, which would load an unused copy of undici', () => {
    const chunks = readdirSync(join(installed, 'out', 'main')).filter((name) => name.endsWith('.js'));
    const importing = chunks.filter((name) =>
      /\b(from|import) ?["'](node:)?http["']/.test(readFileSync(join(installed, 'out', 'main', name), 'utf8')),
    );
    expect([chunks.length > 0, importing]).toEqual([true, []]);
  });

  it('contains code without its documentation and layout, which V8 would keep in memory', () => {
    const chunks = readdirSync(join(installed, 'out', 'main')).filter((name) => name.endsWith('.js'));
    const codes = chunks.map((name) => readFileSync(join(installed, 'out', 'main', name), 'utf8'));
    expect(codes.filter((code) => /^\s*\/\*\*(?!.*@license)/m.test(code))).toEqual([]);
    // Texts within the code have lines too.
    expect(codes.filter((code) => code.length > 10_000 && code.length / code.split('\n').length < 100)).toEqual([]);
  });

  it('depends on what the bundle leaves out, and on nothing else', () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      dependencies: object;
    };
    expect(Object.keys(dependencies)).toEqual(['better-sqlite3']);
  });

  it('installs a command that starts, queries and stops a Vivarium, and calls itself vivarium', async () => {
    const on = ['--data-dir', join(temporaryFolder(), 'data')];
    const { stdout } = await vivarium('start', '-d', '--any-ports', ...on);
    expect(stdout).toContain(`  Stop with vivarium stop ${on.join(' ')}\n`);
    const page = await fetch(/Interface +(\S+)#/.exec(stdout)?.[1] ?? '');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
    expect((await vivarium('projects', 'list', ...on)).stdout).toContain('Demo');
    expect((await vivarium('stop', ...on)).stdout).toBe('Stopped.\n');
    expect((await vivarium('help')).stdout).toContain('\n  vivarium run app.acme.test -- ');
  });
});

it('a clone’s command is the launcher', async () => {
  const bin = join(ROOT, 'main', 'cli', 'bin.mjs');
  const env = { ...process.env, npm_lifecycle_script: "'vivarium'" };
  const { stdout } = await run(process.execPath, [bin, 'help'], { cwd: temporaryFolder(), env });
  expect(stdout).toContain(`\n  node ${shellWord(bin, process.platform)} run app.acme.test -- `);
});

describe('package.json', () => {
  it('names the Node of a clone’s launcher, and in the tarball the Node that runs it', async () => {
    const clone = temporaryFolder();
    for (const path of ['package.json', 'main/cli/node-version.mjs', 'main/cli/launch/tarball-manifest.mjs'])
      cpSync(join(ROOT, path), join(clone, path));
    // There is nothing to build here.
    writeFileSync(join(clone, 'main', 'cli', 'launch.mjs'), '');
    const file = join(clone, 'package.json');
    const before = { text: readFileSync(file, 'utf8'), mtimeMs: statSync(file).mtimeMs };
    await run('npm', ['pack'], { cwd: clone });
    expect({ text: readFileSync(file, 'utf8'), mtimeMs: statSync(file).mtimeMs }).toEqual(before);
    await run('tar', ['-xzf', 'vivarium-0.1.0.tgz'], { cwd: clone });
    const packed = JSON.parse(readFileSync(join(clone, 'package', 'package.json'), 'utf8')) as object;
    expect(JSON.parse(before.text)).toMatchObject({ private: true, engines: { node: '>=20' } });
    // A private package cannot be published.
    expect(packed).toMatchObject({ private: false, engines: { node: NODE_RANGE } });
  });

  it.each([
    ['20.20.2', false],
    ['22.20.0', false],
    ['22.21.0', true],
    ['23.11.0', false],
    ['24.8.0', false],
    ['24.9.0', true],
    ['26.0.0', true],
  ])('and the program agree about Node %s: %s', (node, isEnough) => {
    expect(NODE_RANGE).toBe('^22.21.0 || >=24.9.0');
    vi.stubGlobal('process', { versions: { node } });
    try {
      expect(isNodeNewEnough()).toBe(isEnough);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

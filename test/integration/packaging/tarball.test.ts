import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installTarball, PACKING_MS_MAX, run } from '../../support/tarball.ts';
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
    expect((await vivarium('help')).stdout).toContain('\n  vivarium serve [options] ');
  });
});

it('a clone’s command is the launcher', async () => {
  const bin = join(ROOT, 'main', 'cli', 'bin.mjs');
  const env = { ...process.env, npm_lifecycle_script: "'vivarium'" };
  const { stdout } = await run(process.execPath, [bin, 'help'], { cwd: temporaryFolder(), env });
  expect(stdout).toContain('\n  npx vivarium serve [options] ');
});

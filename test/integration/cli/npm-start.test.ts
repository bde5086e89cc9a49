import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { track } from '../../support/engine.ts';
import { follow, FREE_PORTS } from '../../support/program.ts';
import { readUntil } from '../../support/proxy/proxy-raw.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { closedPort } from '../../support/ports.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

function run(script: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [join(ROOT, 'main', 'cli', script), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  const { printed, ended } = follow(child);
  track(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return { child, printed, ended };
}

/** This machine without a display, and not marked as a build machine. */
function withoutDisplay(): NodeJS.ProcessEnv {
  const { CI: _ci, DISPLAY: _x11, WAYLAND_DISPLAY: _wayland, ...env } = process.env;
  return { ...env, NO_COLOR: '1' };
}

describe.runIf(process.platform === 'linux')('npm start without a display', () => {
  it('reports it in one line, and serves the same interface with a link that signs in', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    // As in the terminal of an editor that is an Electron itself.
    const leaked = ['RUN_AS_NODE', 'NO_ASAR', 'OVERRIDE_DIST_PATH'].map((name) => [`ELECTRON_${name}`, '1'] as const);
    const NODE_OPTIONS = '--trace-deprecation';
    const { child, printed, ended } = run('launch.mjs', ['start', '--data-dir', dataDir, '--empty', ...FREE_PORTS], {
      ...withoutDisplay(),
      NODE_OPTIONS,
      ...Object.fromEntries(leaked),
    });
    await readUntil(child.stdout, /Stop with Ctrl-C/);
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as { pid: number };
    const passedOn = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(passedOn.filter((variable) => /^(ELECTRON|NODE_OPTIONS)/.test(variable))).toEqual([
      `NODE_OPTIONS=${NODE_OPTIONS}`,
    ]);
    expect(printed.stderr).toMatch(
      /^(Building…( \.)*\n)?No window, because there is no display; serving headless instead\.\n$/,
    );
    expect(printed.stdout).toMatch(/Interface +http:\/\/127\.0\.0\.1:\d+\/#ticket=\w+/);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
  });
});

describe.runIf(process.platform !== 'darwin')('npm run package', () => {
  it.each(['--mac', '--mac=zip', '--macos', '-m', '-lmw', '-o'])('refuses %s with a reason', async (option) => {
    const { ended } = run('launch.mjs', ['package', option, 'dir'], process.env);
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The app for macOS can only be packaged on macOS, because [^\n]+\n$/);
  });
});

it('fetching Electron’s runtime fails with one line if it is unavailable', async () => {
  const cache = temporaryFolder();
  const { ended } = run('launch/fetch-electron.mjs', [join(ROOT, 'node_modules', 'electron')], {
    ...process.env,
    ELECTRON_MIRROR: `http://127.0.0.1:${await closedPort()}/`,
    electron_config_cache: cache,
  });
  const { code, stderr } = await ended;
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^Electron’s runtime could not be fetched: connect ECONNREFUSED [^\n]+\.\n$/),
  ]);
});

import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { track } from '../../../support/engine.ts';
import { FIRST, SCRIPT, startRegistry } from '../../../support/packaging/npm-registry.ts';
import { closedPort } from '../../../support/ports.ts';

const it = test.extend('npm', () => startRegistry());

const launcher = (name: string): string => new URL(`../../../../main/cli/launch/${name}`, import.meta.url).href;

/** What `launch.mjs` does before it hands over, in the current folder's project. */
const START = `
  import { interruptible } from ${JSON.stringify(launcher('child.mjs'))};
  import { install } from ${JSON.stringify(launcher('install.mjs'))};
  const say = (text) => process.stderr.write(text + '\\n');
  const patience = JSON.parse(process.env.PATIENCE ?? 'null') ?? undefined;
  const failure = await interruptible(() => install({ root: process.cwd(), say, patience }));
  if (failure !== null) say(failure);
  process.exitCode = failure === null ? 0 : 1;
`;

/** A start in a project, with npm's cache and settings of its own. */
function start(root: string, registry: string, more: NodeJS.ProcessEnv = {}, node = process.execPath) {
  const settings = {
    npm_config_registry: registry,
    npm_config_cache: join(root, 'cache'),
    npm_config_userconfig: join(root, 'none'),
    npm_config_noproxy: '127.0.0.1',
  };
  const child = spawn(node, ['--input-type=module', '--eval', START], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...settings, ...more },
  });
  const printed = { stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (printed.stderr += chunk));
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, ...printed }));
  });
  track(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, printed, ended };
}

const isInstalled = (root: string): boolean =>
  ['first', 'second', '.vivarium-install'].every((name) => existsSync(join(root, 'node_modules', name)));

const DONE = /^Installing 2 packages, once…[ .]*\n$/;
const WAITS = 'Another start is installing or building here; waiting for it…\n';

describe('the install of a start', () => {
  it('says what it does, hides npm’s warnings, and is not repeated', async ({ npm: { registry, root } }) => {
    expect(await start(root, registry.url).ended).toEqual({ code: 0, stderr: expect.stringMatching(DONE) });
    const asked = registry.asked.length;
    expect(await start(root, registry.url).ended).toEqual({ code: 0, stderr: '' });
    expect(registry.asked).toHaveLength(asked);
  });

  // One handler serves SIGINT, SIGTERM and SIGHUP, regardless of npm's state.
  it.each([
    ['SIGINT', 'a package is described', '/first'],
    ['SIGKILL', 'a package is described', '/first'],
    ['SIGTERM', 'a package is fetched', FIRST],
    ['SIGHUP', 'a package is fetched', FIRST],
    ['SIGKILL', 'a package is fetched', FIRST],
    ['SIGINT', 'a package runs its script', SCRIPT],
    ['SIGKILL', 'a package runs its script', SCRIPT],
  ] as const)(
    'ended twice by %s while %s leaves no process running, and the next start completes it',
    async (signal, _, path) => {
      const { registry, root } = await startRegistry();
      for (const _time of [1, 2]) {
        const held = registry.hold(path);
        const { child, ended } = start(root, registry.url);
        await held.asked;
        child.kill(signal);
        const { stderr } = await ended;
        if (signal !== 'SIGKILL') expect(stderr).toContain('Stopped. The next start resumes unfinished work.');
        await held.closed;
        expect(isInstalled(root)).toBe(false);
      }
      const { code, stderr } = await start(root, registry.url).ended;
      expect([code, isInstalled(root)]).toEqual([0, true]);
      expect(stderr).not.toContain('Another start');
    },
  );

  it('blocks a second start, which then has nothing to install', async ({ npm: { registry, root } }) => {
    const held = registry.hold(FIRST);
    const first = start(root, registry.url);
    await held.asked;
    const second = start(root, registry.url);
    await expect.poll(() => second.printed.stderr).toBe(WAITS);
    held.release();
    expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
    expect((await second.ended).stderr).toBe(WAITS);
    expect(registry.asked.filter((path) => path === FIRST)).toHaveLength(1);
  });

  it('goes on with what a killed start has begun, after waiting for it', async ({ npm: { registry, root } }) => {
    const held = registry.hold(FIRST);
    const first = start(root, registry.url);
    await held.asked;
    const second = start(root, registry.url);
    await expect.poll(() => second.printed.stderr).toBe(WAITS);
    first.child.kill('SIGKILL');
    expect([(await second.ended).code, isInstalled(root)]).toEqual([0, true]);
  });

  it('works with the Node in node_modules, which npm’s scripts find first', async ({ npm: { registry, root } }) => {
    const folder = join(root, 'node_modules', 'node', 'bin');
    mkdirSync(folder, { recursive: true });
    const node = join(folder, basename(process.execPath));
    copyFileSync(process.execPath, node);
    const { code, stderr } = await start(root, registry.url, {}, node).ended;
    expect([code, isInstalled(root), existsSync(node)]).toEqual([0, true, false]);
    expect(existsSync(join(root, 'out', '.installing'))).toBe(false);
    expect(stderr).toMatch(/^node_modules does not match[^\n]*\nInstalling 2 packages, once…[ .]*\n$/);
  });

  it('restores what was removed from node_modules, and names it', async ({ npm: { registry, root } }) => {
    await start(root, registry.url).ended;
    rmSync(join(root, 'node_modules', 'first'), { recursive: true });
    const { code, stderr } = await start(root, registry.url).ended;
    expect(stderr).toMatch(
      /^node_modules does not match package-lock\.json: node_modules\/first is missing\.\nInstalling/,
    );
    expect([code, isInstalled(root)]).toEqual([0, true]);
  });

  it('accepts what npm installed by hand, but not in another version', async ({ npm: { registry, root } }) => {
    const stamp = join(root, 'node_modules', '.vivarium-install');
    await start(root, registry.url).ended;
    rmSync(stamp);
    expect(await start(root, registry.url).ended).toEqual({ code: 0, stderr: '' });
    rmSync(stamp);
    const list = join(root, 'node_modules', '.package-lock.json');
    writeFileSync(list, readFileSync(list, 'utf8').replace(/(first": \{\s*"version": ")1\.0/, '$10.9'));
    expect((await start(root, registry.url).ended).stderr).toContain('node_modules/first is 0.9.0, not 1.0.0.');
    expect(readFileSync(list, 'utf8')).not.toContain('0.9.0');
  });

  it('names what to delete if node_modules cannot be emptied', async ({ npm: { registry, root } }) => {
    writeFileSync(join(root, 'node_modules'), '');
    const { code, stderr } = await start(root, registry.url).ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`${join(root, 'node_modules')} cannot be emptied (EEXIST`);
    expect(stderr).toMatch(/Delete it, or start a copy in a folder that can be written\.\n$/);
  });

  it('shows npm’s own errors if they are the reason', async ({ npm: { registry, root } }) => {
    writeFileSync(join(root, 'package.json'), '{"name":"project","dependencies":{"third":"1.0.0"}}');
    const { code, stderr } = await start(root, registry.url).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/npm (ERR!|error) code E404\n(.*\n)*npm ci failed; its messages are above\./);
  });
});

describe('without a network', () => {
  it('names the network when the registry is unreachable', async ({ npm: { root } }) => {
    const { code, stderr } = await start(root, `http://127.0.0.1:${await closedPort()}/`).ended;
    expect(code).toBe(1);
    expect(stderr).toContain('\nNo network? The npm registry cannot be reached (ECONNREFUSED).');
    expect(stderr).toContain('\nNo network: the npm registry could not be reached (ECONNREFUSED).');
    expect(stderr).not.toContain('npm error');
  });

  it('suspects the network when the registry does not answer, and finally ends npm', async () => {
    const { registry, root } = await startRegistry();
    registry.hold('/first');
    registry.hold('/second');
    const patience = JSON.stringify({ checkMs: 50, doubtMs: 100, noAnswerMs: 300 });
    const { code, stderr } = await start(root, registry.url, { PATIENCE: patience }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /\nNo network\? The npm registry has not answered yet\. [^]*\nNo network: the npm registry could not be reached \(it did not answer\)\./,
    );
  });
});

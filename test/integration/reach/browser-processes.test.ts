import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { BROWSERS_MAX, createBrowserProcesses } from '../../../main/reach/browser-processes.ts';
import type { Browser } from '../../../main/reach/browsers.ts';
import { track } from '../../support/engine.ts';
import { until } from '../../support/upstream-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Time passes at once: a browser counts as started if nothing else has happened first. */
const instantClock = { realTimer: (_delayMs: number, callback: () => void) => createClock().realTimer(50, callback) };

/** A program in place of a browser. */
function createBrowser(script: string): Browser {
  const program = join(temporaryFolder(), 'browser');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return { name: 'Chromium', program, confinedTo: null };
}

function createProcesses(clock: { realTimer: typeof instantClock.realTimer } = createClock()) {
  const temporaryDir = temporaryFolder();
  const processes = createBrowserProcesses({ clock, log: silentLog, temporaryDir });
  track(() => processes.stop());
  const open = (browser: Browser) =>
    processes.open(browser, (profile) => Promise.resolve({ args: [profile], environment: process.env }));
  return { processes, open, profiles: () => readdirSync(temporaryDir) };
}

const WAITING = 'echo ready > "$1/ready"; exec sleep 600';

test('a running browser is counted, ended on stop, and its profile removed', async () => {
  const { processes, open, profiles } = createProcesses(instantClock);
  await open(createBrowser(WAITING));
  expect(processes.opened()).toBe(1);
  expect(profiles()).toHaveLength(1);
  await processes.stop();
  expect([processes.opened(), profiles()]).toEqual([0, []]);
});

test('a browser whose window is closed leaves nothing behind', async () => {
  const { processes, open, profiles } = createProcesses(instantClock);
  await open(createBrowser('sleep 0.2; touch "$1/written-last"'));
  await until(() => processes.opened() === 0);
  expect(profiles()).toEqual([]);
});

test('a browser that cannot start gives an error with its own message, and leaves nothing behind', async () => {
  const { processes, open, profiles } = createProcesses();
  await expect(open(createBrowser('echo first >&2; echo Missing X server >&2; exit 1'))).rejects.toThrow(
    /^Chromium \(.*browser\) exited immediately \(1\): Missing X server$/,
  );
  await until(() => processes.opened() === 0);
  expect(profiles()).toEqual([]);
});

test('a browser that refuses to run as root gives an error that tells what to do', async () => {
  const { open } = createProcesses();
  await expect(
    open(createBrowser('echo Running as root without --no-sandbox is not supported >&2; exit 1')),
  ).rejects.toThrow(/not supported\. Start Vivarium as an ordinary user.*VIVARIUM_BROWSER_ARGUMENTS=--no-sandbox\.$/);
});

test('an invalid program gives an error', async () => {
  const { open } = createProcesses();
  const browser = { name: 'Chromium', program: '/nowhere/chromium', confinedTo: null };
  await expect(open(browser)).rejects.toThrow(/could not be started: .*ENOENT/);
});

test('a browser that ignores SIGTERM is killed, with its child processes', async () => {
  const { processes, open } = createProcesses(instantClock);
  const marker = join(temporaryFolder(), 'child');
  await open(
    createBrowser(
      `trap '' TERM; (trap '' TERM; echo $! > ${marker}; while :; do sleep 1; done) & wait; while :; do sleep 1; done`,
    ),
  );
  await until(() => existsSync(marker));
  await processes.stop();
  expect(processes.opened()).toBe(0);
});

test('the limit on the number of browsers gives an error that tells what to do', async () => {
  const { processes, open } = createProcesses(instantClock);
  const browser = createBrowser(WAITING);
  await Promise.all(Array.from({ length: BROWSERS_MAX }, () => open(browser)));
  await expect(open(browser)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('Close one') as unknown,
  });
  expect(processes.opened()).toBe(BROWSERS_MAX);
});

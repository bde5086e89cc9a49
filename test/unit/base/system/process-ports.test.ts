import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  descendants,
  listListeners,
  listProcesses,
  parseColumns,
  parseLsof,
  parseNetstat,
} from '../../../../main/base/system/port-holder.ts';
import { choosePort } from '../../../../main/cli/run/app-port.ts';
import { freePort } from '../../../support/ports.ts';

test('the descendants of a process are its children, their children, and other processes of its session', () => {
  const table = parseColumns('  1 0 1\n 10 1 10\n 11 10 10\n 12 11 12\n 13 1 10\n 14 1 14\n garbage\n');
  expect([...descendants(10, table)].sort()).toEqual([10, 11, 12, 13]);
});

test('lsof’s fields and netstat’s lines are parsed into ports, families and processes', () => {
  const lsof = 'p42\nf21\ntIPv4\nn127.0.0.1:5173\nf22\ntIPv6\nn[::1]:5174\np43\nf3\ntIPv4\nn*:80\n';
  expect(parseLsof(lsof)).toEqual([
    { port: 5173, isIPv6: false, pid: 42 },
    { port: 5174, isIPv6: true, pid: 42 },
    { port: 80, isIPv6: false, pid: 43 },
  ]);
  const netstat = [
    '  Proto  Local Address          Foreign Address        State           PID',
    '  TCP    0.0.0.0:135            0.0.0.0:0              LISTENING       996',
    '  TCP    [::1]:5173             [::]:0                 ABHÖREN         4711',
    '  TCP    127.0.0.1:5173         127.0.0.1:60000        ESTABLISHED     4711',
    '  UDP    0.0.0.0:53             *:*                                    12',
  ].join('\r\n');
  expect(parseNetstat(netstat)).toEqual([
    { port: 135, isIPv6: false, pid: 996 },
    { port: 5173, isIPv6: true, pid: 4711 },
  ]);
});

describe.runIf(process.platform === 'linux')('on this machine', () => {
  test('a child’s port is found, even at one address while another program has the other', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const program = `require('node:net').createServer().listen(${port}, '::1', () => console.log('ready'));`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    const found = descendants(pid, await listProcesses('linux'));
    expect(await listListeners(found, 'linux')).toEqual([{ port, host: '[::1]', pid }]);
    expect(await listListeners(new Set([process.pid]), 'linux')).toContainEqual({
      port,
      host: '127.0.0.1',
      pid: process.pid,
    });
  });
});

describe('the port to serve', () => {
  const listeners = [3000, 4000, 9229].map((port) => ({ port, host: 'localhost', pid: 1 }));
  const none = { given: 5000, current: null };
  const speaking =
    (...ports: number[]) =>
    ({ port }: { port: number }) =>
      Promise.resolve(ports.includes(port) ? 'http' : null);

  test.each([
    ['the given one', { ...none, given: 4000 }, [], [4000]],
    ['the one that is served already', { given: 4000, current: 3000 }, [], [3000]],
    ['the only one that speaks HTTP', none, [3000], [3000]],
    ['one of several that do', none, [3000, 4000], [3000, 4000]],
    ['one of all where none does', none, [], [3000, 4000, 9229]],
  ])('is %s', async (_what, hints, speaks, expected) => {
    const chosen = await choosePort(listeners, hints, speaking(...speaks));
    expect(chosen.map(({ port }) => port)).toEqual(expected);
  });
});

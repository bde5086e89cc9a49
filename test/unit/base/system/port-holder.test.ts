import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  descendants,
  findConnectionOwner,
  findPortHolder,
  isServedByAnotherUser,
  listeningInodes,
  listListeners,
  listProcesses,
  parseColumns,
  parseLsof,
  parseNetstat,
} from '../../../../main/base/system/port-holder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { choosePort } from '../../../../main/cli/run/app-port.ts';
import { freePort } from '../../../support/ports.ts';

const TABLE = [
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
  '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0',
  '   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 20 4 30 10 -1',
  '   2: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0',
  '   3: 0100007F:D431 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0',
  '',
];

test.each([
  [8080, ['4711']],
  [80, ['4713']],
  [54321, []],
])('port %i is held by the sockets %j', (port, inodes) => {
  expect(listeningInodes(TABLE, port)).toEqual(inodes);
});

/** A folder like /proc, with a table of connections. */
function procWith(text: string, table = 'tcp'): string {
  const proc = temporaryFolder();
  mkdirSync(join(proc, 'net'));
  writeFileSync(join(proc, 'net', table), text);
  return proc;
}
function addProcess(proc: string, pid: string, inode: string, command: string): void {
  mkdirSync(join(proc, pid, 'fd'), { recursive: true });
  writeFileSync(join(proc, pid, 'cmdline'), command);
  symlinkSync(`socket:[${inode}]`, join(proc, pid, 'fd/3'));
}

test('names the process whose file descriptors include the socket', () => {
  const proc = procWith(TABLE.join('\n'));
  for (const [pid, inode] of Object.entries({ 17: '9', 42: '4711' }))
    addProcess(proc, pid, inode, `/usr/bin/program-${pid}\0--flag\0`);
  mkdirSync(join(proc, '43'));
  expect(findPortHolder(8080, { proc })).toEqual({ pid: 42, name: 'program-42' });
  expect(findPortHolder(8080, { proc, besides: 42 })).toBeNull();
  expect(findPortHolder(80, { proc })).toBeNull();
  expect(findPortHolder(8080, { proc: join(proc, 'missing') })).toBeNull();
});

test('names the process at the other end of a connection', () => {
  const other =
    '   4: 0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:1F90 01 0:0 00:0 0 65534 0 4714';
  const proc = procWith([TABLE[2], other].join('\n'), 'tcp6');
  expect(findConnectionOwner(0xd431, 8080, proc)).toBe(65534);
  expect(findConnectionOwner(8080, 0xd431, proc)).toBe(1000);
  expect(findConnectionOwner(1, 8080, proc)).toBeNull();
  expect(findConnectionOwner(0xd431, 8080, join(proc, 'none'))).toBeNull();
});

test('escapes control characters in a process’s name', () => {
  const proc = procWith(TABLE.join('\n'));
  addProcess(proc, '42', '4711', '/bin/\u001b]0;x\u0007\u009b\u202eevil\0');
  expect(findPortHolder(8080, { proc })?.name).toBe('?]0;x???evil');
});

test.each([
  ['its listener', '0A', '0100007F:1F90 00000000:0000', 65534, true],
  ['its accepted end, even if it listens no more', '01', '0100007F:1F90 0100007F:D431', 65534, true],
  ['another connection to the port', '01', '0100007F:1F90 0100007F:D432', 65534, false],
  ['the client’s end', '01', '0100007F:D431 0100007F:1F90', 65534, false],
  ['a listener of root', '0A', '0100007F:1F90 00000000:0000', 0, false],
  ['a listener of this user', '0A', '0100007F:1F90 00000000:0000', 1000, false],
])('another user serves a connection if %s is theirs', async (_what, state, ends, uid, expected) => {
  const proc = procWith(`head\n   0: ${ends} ${state} 0:0 00:0 0 ${uid} 0 4711\n`);
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(1000);
  const connection = { localPort: 0xd431, remotePort: 8080 };
  expect(await isServedByAnotherUser(connection, proc)).toBe(expected);
  expect(await isServedByAnotherUser(connection, join(proc, 'none'))).toBe(false);
  getuid.mockRestore();
});

test('the descendants of a process are its children, their children, and other processes of its session', () => {
  const table = parseColumns('  1 0 1\n 10 1 10\n 11 10 10\n 12 11 12\n 13 1 10\n 14 1 14\n garbage\n');
  expect([...descendants(10, table)].sort()).toEqual([10, 11, 12, 13]);
});

test('a process that has ended is not listed, though its parent has not noticed', async () => {
  const child = spawn('sh', ['-c', 'sleep 0.1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const ended = Number(String(await once(child.stdout, 'data')));
  await expect.poll(async () => (await listProcesses('linux')).find(({ pid }) => pid === ended)).toBeUndefined();
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

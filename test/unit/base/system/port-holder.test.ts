import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  findConnectionOwner,
  findPortHolder,
  isServedByAnotherUser,
  listeningInodes,
} from '../../../../main/base/system/port-holder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

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

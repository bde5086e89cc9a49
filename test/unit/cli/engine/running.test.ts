import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findRunning, NotRunningError } from '../../../../main/cli/engine/running.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

function folderWith(content: string | null): string {
  const folder = temporaryFolder();
  if (content !== null) writeFileSync(join(folder, 'runtime.json'), content);
  return folder;
}

const runtime = (changes: object) =>
  JSON.stringify({ pid: process.pid, control: { url: 'http://127.0.0.1:4780', token: 't' }, ...changes });

it('a live Vivarium is found', () => {
  const dataDir = folderWith(runtime({}));
  expect(findRunning(dataDir)).toEqual({ url: 'http://127.0.0.1:4780', token: 't', pid: process.pid, dataDir });
});

it.each([
  ['no file', null, /^No Vivarium is running on [^(]*\. Start/],
  ['an empty file', '', /damaged/],
  ['half a file', '{"pid":1,', /damaged/],
  ['no object', 'null', /damaged/],
  ['no token', runtime({ control: { url: 'http://127.0.0.1:4780' } }), /damaged/],
  ['a url of somewhere else', runtime({ control: { url: 'http://evil.example:80', token: 't' } }), /damaged/],
  [
    'a url that hides somewhere else',
    runtime({ control: { url: 'http://127.0.0.1:80@evil.example:80', token: 't' } }),
    /damaged/,
  ],
  ['a group of processes', runtime({ pid: -1 }), /damaged/],
  ['this group of processes', runtime({ pid: 0 }), /damaged/],
  [
    'a process that ended',
    runtime({ pid: spawnSync(process.execPath, ['--version']).pid }),
    /the last one there did not stop properly/,
  ],
])('%s counts as not running', (_what, content, reason) => {
  const dataDir = folderWith(content);
  expect(() => findRunning(dataDir)).toThrow(NotRunningError);
  expect(() => findRunning(dataDir)).toThrow(reason);
  expect(() => findRunning(dataDir)).toThrow(`No Vivarium is running on ${dataDir}`);
});

it('a data folder that is a file counts as not running', () => {
  expect(() => findRunning(join(folderWith('x'), 'runtime.json'))).toThrow(NotRunningError);
});

it('a copy of the folder of a running one counts as not running, and names that folder', () => {
  const original = folderWith(null);
  const copy = folderWith(runtime({ dataDir: original }));
  expect(() => findRunning(copy)).toThrow(NotRunningError);
  expect(() => findRunning(copy)).toThrow(
    `No Vivarium is running on ${copy} (its runtime.json is a copy: process ${process.pid} serves ${original})`,
  );
});

it('a Vivarium is found on a folder that is reached by a link, or was renamed', () => {
  const dataDir = folderWith(null);
  writeFileSync(join(dataDir, 'runtime.json'), runtime({ dataDir }));
  const link = join(folderWith(null), 'link');
  symlinkSync(dataDir, link);
  expect(findRunning(link).pid).toBe(process.pid);
  const renamed = join(folderWith(null), 'renamed');
  renameSync(dataDir, renamed);
  onTestFinished(() => rmSync(renamed, { recursive: true, force: true }));
  expect(findRunning(renamed).pid).toBe(process.pid);
});

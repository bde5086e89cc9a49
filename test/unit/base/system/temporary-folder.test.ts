import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openTemporaryFolder, sweepTemporaryFolders } from '../../../../main/base/system/temporary-folder.ts';

/** The id of a process that has ended. */
const endedPid = (): number => spawnSync('true').pid;

/** This user's folder, as an earlier start made it. */
function ownParent(): string {
  const parent = join(tmpdir(), `vivarium-${process.getuid?.()}`);
  mkdirSync(parent, { mode: 0o700 });
  return parent;
}

function leaveBehind(parent: string, pid: number): string {
  const folder = join(parent, `${pid}-abcdef`);
  mkdirSync(join(folder, 'inside'), { recursive: true });
  return folder;
}

afterEach(() => void vi.restoreAllMocks());

describe.runIf(process.getuid !== undefined)('the folder of a process for its temporary files', () => {
  it('is in a folder that only this user can use', () => {
    const folder = openTemporaryFolder();
    const parent = join(tmpdir(), `vivarium-${process.getuid?.()}`);
    expect(folder.startsWith(join(parent, `${process.pid}-`))).toBe(true);
    expect([folder, parent].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it('replaces those of ended processes, not those of running ones', () => {
    const parent = ownParent();
    leaveBehind(parent, endedPid());
    const running = leaveBehind(parent, process.ppid);
    const folder = openTemporaryFolder();
    expect(readdirSync(parent).map((name) => join(parent, name))).toEqual(
      expect.arrayContaining([folder, running]) as string[],
    );
    expect(readdirSync(parent)).toHaveLength(2);
  });

  it('is swept when its process has ended, and its parent is not made for that', () => {
    const path = join(tmpdir(), `vivarium-${process.getuid?.()}`);
    rmSync(path, { recursive: true, force: true });
    sweepTemporaryFolders();
    expect(existsSync(path)).toBe(false);
    const parent = ownParent();
    const running = leaveBehind(parent, process.ppid);
    leaveBehind(parent, endedPid());
    sweepTemporaryFolders();
    expect(readdirSync(parent).map((name) => join(parent, name))).toEqual([running]);
  });

  it('leaves links, files and pipes with the names of leftovers alone', () => {
    const parent = ownParent();
    const documents = join(tmpdir(), 'documents');
    mkdirSync(join(documents, 'letters'), { recursive: true });
    const pid = endedPid();
    symlinkSync(documents, join(parent, `${pid}-link`));
    writeFileSync(join(parent, `${pid}-file`), '');
    spawnSync('mkfifo', [join(parent, `${pid}-pipe`)]);
    openTemporaryFolder();
    expect(readdirSync(documents)).toEqual(['letters']);
    expect(readdirSync(parent).filter((name) => name.startsWith(`${pid}-`))).toHaveLength(3);
  });

  it.each<[what: string, make: (parent: string) => void]>([
    ['a folder that others can use', (parent) => (mkdirSync(parent), chmodSync(parent, 0o777))],
    ['a link', (parent) => (mkdirSync(`${parent}.target`), symlinkSync(`${parent}.target`, parent))],
    ['a file', (parent) => writeFileSync(parent, '')],
  ])('is elsewhere if the name of this user’s folder is taken by %s, which stays as it is', (_what, make) => {
    const parent = join(tmpdir(), `vivarium-${process.getuid?.()}`);
    make(parent);
    const inside = statSync(parent).isDirectory() ? [leaveBehind(parent, endedPid())] : [];
    const folder = openTemporaryFolder();
    expect(folder.startsWith(`${parent}/`)).toBe(false);
    expect([statSync(folder).mode & 0o777, ...inside.map(existsSync)]).toEqual([0o700, ...inside.map(() => true)]);
  });

  it('is elsewhere if the folder with this user’s name belongs to another user', () => {
    const parent = join(tmpdir(), 'vivarium-1234567');
    mkdirSync(parent, { mode: 0o700 });
    const theirs = leaveBehind(parent, endedPid());
    vi.spyOn(process, 'getuid').mockReturnValue(1_234_567);
    const folder = openTemporaryFolder();
    expect([folder.startsWith(`${parent}/`), existsSync(theirs)]).toEqual([false, true]);
  });
});

import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './runtime-file.ts';

/** Folders are named after their process, which may be killed, or still write while it ends: a later start removes them. */
const OF_PROCESS = /^(\d+)-/;

/** Removes the folders of this user's ended processes, such as the bundles of a killed `vivarium run`. */
export function sweepTemporaryFolders(): void {
  const parent = ownParent();
  if (isOwnFolder(parent, 0o077)) removeLeftovers(parent);
}

/** A new folder for this process only, removed when it ends. Removes those of this user's ended processes. */
export function openTemporaryFolder(): string {
  const parent = openOwnParent();
  if (parent !== null) removeLeftovers(parent);
  const folder = mkdtempSync(parent === null ? join(tmpdir(), 'vivarium-') : join(parent, `${process.pid}-`));
  process.on('exit', () => {
    removeWhole(folder);
    // Unless another process of this user has a folder in it.
    if (parent !== null) attempt(() => rmdirSync(parent));
  });
  return folder;
}

/**
 * This user's folder below the system's, where any user can put links and folders of any name. Null if its
 * name is taken by anything else.
 */
function openOwnParent(): string | null {
  const parent = ownParent();
  attempt(() => mkdirSync(parent, { mode: 0o700 }));
  return isOwnFolder(parent, 0o077) ? parent : null;
}

const ownParent = (): string => join(tmpdir(), `vivarium-${process.getuid?.() ?? 'temporary'}`);

function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(OF_PROCESS.exec(name)?.[1] ?? process.pid);
    if (!isAlive(pid) && isOwnFolder(join(parent, name))) removeWhole(join(parent, name));
  }
}

/** @param closed the permissions that it must not grant; Windows has none, and a temporary folder for each user */
function isOwnFolder(path: string, closed = 0): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return false;
  return process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & closed) === 0);
}

/** Windows cannot remove open files; one that remains does not keep the others. */
function removeWhole(folder: string): void {
  attempt(() => {
    for (const path of [...readdirSync(folder).map((name) => join(folder, name)), folder])
      attempt(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  });
}

/** Ignores a failure: what cannot be removed now stays for a later start. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // A start and its command matter more than a leftover.
  }
}

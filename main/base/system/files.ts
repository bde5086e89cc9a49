import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orElse } from '../../contract/errors.ts';

export const OWNER_ONLY = 0o600;

/** Whether a file's owner may determine its content: this user, or the system's administrator. */
export const isTrustedOwner = ({ uid }: { uid: number }): boolean =>
  process.getuid === undefined || uid === process.getuid() || uid === 0;

/**
 * Replaces a file atomically: readers see the old or the new content, even after a crash. The mode is set at creation,
 * so a secret is never readable by others.
 */
export function writeFileAtomically(path: string, content: string | Uint8Array, mode: number = 0o644): void {
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      let written = 0;
      while (written < bytes.length) written += writeSync(file, bytes, written);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

export function syncPath(path: string, flags: 'r' | 'r+'): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The names in a folder; none where it cannot be read. */
export const namesIn = (folder: string): string[] => orElse(() => readdirSync(folder), []);

/** Makes a rename in `folder` durable. Windows has no such call and needs none: NTFS journals directories. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') syncPath(folder, 'r');
}

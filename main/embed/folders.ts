import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Followed by the id of the process that created the folder. */
const PREFIX = 'vivarium-embedded-';

/** How many folders of killed processes one start removes. */
const LEFT_BEHIND_MAX = 100;

export const makeFolder = (): string => mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));

export function removeFolder(folder: string): void {
  // The engine may be writing a file when its process ends.
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the folders of killed processes, whose `exit` listeners did not run. */
export function removeLeftBehind(isInUse: (folder: string, pid: number) => boolean): void {
  const left = readdirSync(tmpdir())
    .flatMap((name) => {
      const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
      return pid > 0 ? [{ folder: join(tmpdir(), name), pid }] : [];
    })
    .filter(({ folder, pid }) => !isInUse(folder, pid));
  for (const { folder } of left.slice(0, LEFT_BEHIND_MAX)) {
    try {
      removeFolder(folder);
    } catch {
      // The folder belongs to another user.
    }
  }
}

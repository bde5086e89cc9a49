import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { OWNER_ONLY, writeFileAtomically } from '../base/files.ts';
import type { Log } from '../base/log.ts';

const pixels = z.int().min(-1_000_000).max(1_000_000);

const remembered = z.object({
  bounds: z
    .object({ x: pixels, y: pixels, width: pixels.min(1), height: pixels.min(1) })
    .nullable()
    .catch(null),
  maximized: z.boolean().catch(false),
  fullScreen: z.boolean().catch(false),
  /** Whether somebody has been told that closing the window leaves the servers running. */
  closeExplained: z.boolean().catch(false),
});
type Remembered = z.infer<typeof remembered>;

const NOTHING: Remembered = { bounds: null, maximized: false, fullScreen: false, closeExplained: false };

/** What the desktop remembers from one start to the next, in one small file. What cannot be read counts as never set. */
export interface DesktopMemory {
  get(): Readonly<Remembered>;
  set(change: Partial<Remembered>): void;
}

export function openDesktopMemory(file: string, log: Log): DesktopMemory {
  let current = read(file);
  return {
    get: () => current,
    set(change) {
      current = { ...current, ...change };
      try {
        writeFileAtomically(file, `${JSON.stringify(current, null, 2)}\n`, OWNER_ONLY);
      } catch (error) {
        log.warn('What the window remembers could not be written', { file, error });
      }
    },
  };
}

function read(file: string): Remembered {
  try {
    return remembered.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return NOTHING;
  }
}

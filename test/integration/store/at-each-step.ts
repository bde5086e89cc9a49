import { syncBuiltinESMExports } from 'node:module';
import fs from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Sqlite from 'better-sqlite3';
import { contentOf } from './files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

type Operation = (...args: unknown[]) => unknown;

const FILES = ['renameSync', 'rmSync', 'mkdirSync', 'copyFileSync', 'chmodSync', 'openSync', 'fsyncSync'] as const;

/** What the steps are made of: changes of files, and statements. */
const OPERATIONS: readonly (readonly [object, readonly string[]])[] = [
  [fs, FILES],
  [fs.promises, ['copyFile']],
  [Sqlite.prototype as object, ['exec', 'prepare', 'pragma', 'close']],
];

/** Runs `work`; calls `before` with the number of each of its operations, counted from 1, before the operation. */
export async function atEachStep(work: () => unknown, before: (step: number) => void): Promise<void> {
  let step = 0;
  let isInside = false;
  const real = OPERATIONS.flatMap(([of, names]) => {
    const holder = of as Record<string, Operation>;
    return names.map((name) => ({ holder, name, operation: holder[name] as Operation }));
  });
  for (const { holder, name, operation } of real) {
    holder[name] = function stepped(this: unknown, ...args: unknown[]) {
      if (!isInside) {
        isInside = true;
        before(++step);
        isInside = false;
      }
      return operation.apply(this, args);
    };
  }
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    for (const { holder, name, operation } of real) holder[name] = operation;
    syncBuiltinESMExports();
  }
}

/** A folder as a kill before a step leaves it on disk. */
export interface Killed {
  step: number;
  copy: string;
}

/** Runs `work`; copies of `folder` before the first of its operations, before each that has found it changed, and after the last. */
export async function killedAtEachStep(folder: string, work: () => unknown): Promise<Killed[]> {
  const parent = temporaryFolder();
  const killed: Killed[] = [];
  let last: unknown = null;
  const look = (step: number) => {
    // The index of a log changes with every reader.
    const content = [...contentOf(folder)].filter(([name]) => !name.endsWith('-shm'));
    if (isDeepStrictEqual(content, last)) return;
    last = content;
    const copy = join(parent, String(step));
    fs.cpSync(folder, copy, { recursive: true });
    killed.push({ step, copy });
  };
  let steps = 0;
  await atEachStep(work, (step) => look((steps = step)));
  look(steps + 1);
  return killed;
}

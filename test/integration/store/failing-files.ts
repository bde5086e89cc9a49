import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const CHANGING = ['renameSync', 'rmSync', 'mkdirSync', 'copyFileSync', 'chmodSync', 'openSync', 'fsyncSync'] as const;

/**
 * Runs `work`; from file operation number `first` on, `strike` replaces every operation. Returns the number of
 * operations.
 */
export function interceptFiles(first: number, work: () => void, strike: () => void): number {
  const patched = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
  const real = CHANGING.map((name) => [name, patched[name]] as const);
  let operations = 0;
  for (const [name, operation] of real) {
    patched[name] = (...args) => {
      operations++;
      if (operations >= first) strike();
      return operation?.(...args);
    };
  }
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    for (const [name, operation] of real) if (operation !== undefined) patched[name] = operation;
    syncBuiltinESMExports();
  }
  return operations;
}

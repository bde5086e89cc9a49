/**
 * A process that claims folders at given times and keeps them: its arguments are the parent folder, the number of
 * folders, and the real time of the first claim. Prints the indices of those that it has got, as JSON.
 */
import { join } from 'node:path';
import { claimDataFolder } from '../../../main/store/data-folder.ts';

const [parent = '', count = '', firstMs = ''] = process.argv.slice(2);
/** Longer than a claim that fails. */
const STEP_MS = 300;

const nothing = new Int32Array(new SharedArrayBuffer(4));
const claimed = new Map<number, ReturnType<typeof claimDataFolder>>();
for (let index = 0; index < Number(count); index += 1) {
  Atomics.wait(nothing, 0, 0, Math.max(0, Number(firstMs) + index * STEP_MS - Date.now()));
  try {
    claimed.set(index, claimDataFolder(join(parent, String(index))));
  } catch {
    // The other one has it.
  }
}
process.stdout.write(`${JSON.stringify([...claimed.keys()])}\n`);
// The locks last until the other process has tried, too; a lock that is collected as garbage is released.
process.stdin.resume();
process.once('exit', () => claimed.clear());

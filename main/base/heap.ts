import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/* How V8 keeps its heap. Node and Electron both leave its flags open for this. */

/** Of what is in use, how much may pile up on top of it before the whole heap is gone through. */
const GROWTH_PERCENT = 30;

/**
 * Keeps the heap near to what is in use. V8 lets it grow to several times that under load, which saves collections that
 * take less than a hundredth of the time here, for some 60 MB.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

type Collect = (options: { type: 'minor' }) => void;

let collect: Collect | null = null;

/**
 * Has V8 collect what was made lately and is not used any more: a millisecond or less. The bytes of buffers lie outside of
 * its heap, where V8 counts them late: of what streams through, it lets some 64 MB pile up, and then goes through the whole
 * heap to be rid of it. Not for what is made of objects, which V8 sees for itself.
 */
export function collectYoung(): void {
  collect ??= exposeCollector();
  collect({ type: 'minor' });
}

/** The flag at the start of the process is not ours to set everywhere that we run. */
function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const exposed = runInNewContext('globalThis.gc') as Collect | undefined;
  return exposed ?? (() => undefined);
}

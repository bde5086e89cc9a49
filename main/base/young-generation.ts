import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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

/** The documented way to it, the flag at the start of the process, is not ours to set in every place that we run in. */
function exposeCollector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}

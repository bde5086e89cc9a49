import type { Io } from './io.ts';

/**
 * Runs `work` so that an interruption ends a stream it reads, as its regular end. Before `onStream` is called, an
 * interruption ends the process, as it always does.
 */
export async function interruptible(
  { onStopSignal }: Pick<Io, 'onStopSignal'>,
  work: (signal: AbortSignal, onStream: () => void) => Promise<void>,
): Promise<void> {
  const interruption = new AbortController();
  let stopListening: () => void = () => undefined;
  try {
    await work(interruption.signal, () => {
      stopListening = onStopSignal(() => interruption.abort());
    });
  } finally {
    stopListening();
  }
}

import { VivariumError } from '../contract/errors.ts';
import type { Client } from './client.ts';
import type { Break } from './types.ts';

/** Breaks something until it is repaired. */
export async function startBreak(
  { breaks }: Pick<Client, 'breaks'>,
  input: Parameters<Client['breaks']['start']>[0],
): Promise<Break> {
  const { id } = await breaks.start(input);
  const stop = async (): Promise<void> => {
    try {
      await breaks.stop({ id });
    } catch (error) {
      // Its time is over, or all were repaired.
      if (!(error instanceof VivariumError) || error.code !== 'not_found') throw error;
    }
  };
  let repairing: Promise<void> | null = null;
  const repair = (): Promise<void> => (repairing ??= stop());
  return { id, repair, [Symbol.asyncDispose]: repair };
}

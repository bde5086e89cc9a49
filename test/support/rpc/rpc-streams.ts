import type { ChangeEvent } from '../../../main/contract/status.ts';
import type { Services } from '../../../main/contract/index.ts';

/** Turns without progress after which a stream counts as waiting for its reader. */
const TURNS_WITHOUT_PROGRESS = 2_000;

/** An endless stream; with `pauseAfter` it pauses after that many events, until it is ended. */
export function countingStream(options: { pauseAfter?: number; padding?: number } = {}) {
  const ended = Promise.withResolvers<undefined>();
  let produced = 0;
  const event = (): ChangeEvent => ({
    type: 'pets.changed',
    projectId: String(++produced),
    at: '2026-11-20T09:00:00.000Z',
  });
  async function* watch(signal: AbortSignal | undefined): AsyncGenerator<ChangeEvent, void, void> {
    try {
      for (;;) {
        if (produced === options.pauseAfter) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        if (signal?.aborted === true) return;
        yield options.padding === undefined ? event() : { ...event(), at: padded(options.padding) };
      }
    } finally {
      ended.resolve(undefined);
    }
  }
  return {
    /** The service: events numbered from 1 in `projectId`. */
    open: ((_input, { signal }) => watch(signal)) satisfies Services['events']['watch'],
    ended: ended.promise,
    produced: () => produced,
    /** Resolves when nothing more has been read for many turns of the event loop. */
    async stalled() {
      for (let turns = 0, last = -1; turns < TURNS_WITHOUT_PROGRESS; turns++) {
        if (produced !== last) turns = 0;
        last = produced;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/** A valid moment of about that many bytes: fractions of a second have no fixed length. */
const padded = (bytes: number): string => `2026-11-20T09:00:00.${'0'.repeat(bytes)}Z`;

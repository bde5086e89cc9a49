import type { Connection } from '../../connection/connection.svelte.ts';
import type { RealTime } from '../time/real-time.ts';

/** A faster answer needs no words. */
export const WAIT_SHOWN_MS = 300;
/** After this long, what is known about the answer is more than that it is awaited. */
export const WAIT_KNOWN_MS = 3_000;

/** An answer that a dialog waits for, in words. */
export class Wait {
  #stage = $state<'short' | 'shown' | 'long'>('short');
  readonly #time: RealTime;
  readonly #connection: Pick<Connection, 'phase'>;

  constructor(time: RealTime, connection: Pick<Connection, 'phase'>) {
    this.#time = time;
    this.#connection = connection;
  }

  /** What to say while the answer is outstanding; undefined while there is nothing to say. */
  get text(): string | undefined {
    const { phase } = this.#connection;
    if (this.#stage === 'short') return undefined;
    if (this.#stage === 'shown') return 'Waiting for the answer…';
    if (phase === 'open') return 'Sent. There is no answer yet.';
    if (phase === 'silent') return 'Sent. Vivarium does not answer at the moment.';
    return 'The connection is lost. Whether this was done is known when it is back.';
  }

  /** Begins to wait; the returned function ends it. */
  begin(): () => void {
    const timers = [
      this.#time.realTimer(WAIT_SHOWN_MS, () => (this.#stage = 'shown')),
      this.#time.realTimer(WAIT_KNOWN_MS, () => (this.#stage = 'long')),
    ];
    return () => {
      for (const timer of timers) timer.cancel();
      this.#stage = 'short';
    };
  }
}

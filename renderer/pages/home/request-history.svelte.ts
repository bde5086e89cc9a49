import type { RequestRates } from '../../../main/contract/status.ts';
import { LiveQuery, type ProjectSource } from '../../connection/live-query.svelte.ts';

const SECOND_MS = 1_000;

/** The delay after the end of a second, so the engine has surely finished it. */
const MARGIN_MS = 40;

/** Requests and refusals per second, oldest first. */
export type Seconds = Pick<RequestRates, 'requests' | 'refused'>;

/**
 * A project's requests in each of the last seconds of real time. Polls the engine once a second while there are
 * requests; idle seconds produce no event and are added here.
 */
export class RequestHistory {
  readonly #query: LiveQuery<RequestRates & { readAt: number }>;
  readonly #options: ProjectSource;
  readonly #unsubscribe: () => void;
  #silent = $state(0);
  #isStale = false;
  #timer: { cancel(): void } | null = null;

  constructor(options: ProjectSource) {
    this.#options = options;
    const { client, changes, time, projectId } = options;
    this.#query = new LiveQuery(options, {
      read: async (signal) => {
        this.#isStale = false;
        const rates = await client.status.rates({ projectId }, { signal });
        this.#await(SECOND_MS - rates.ageMs);
        this.#silent = 0;
        if (rates.running > 0) this.#isStale = true;
        return { ...rates, readAt: time.monotonic() - rates.ageMs };
      },
      // The timer limits reads to one per second.
      concerns: () => false,
    });
    this.#unsubscribe = changes.subscribe((change) => {
      if (change.type === 'limits.changed' && change.projectId === projectId) this.#isStale = true;
    });
  }

  /** Undefined until loaded. */
  get seconds(): Seconds | undefined {
    const rates = this.#query.value;
    if (rates === undefined) return undefined;
    const pass = (counts: readonly number[]): number[] => {
      const silent = Math.min(this.#silent, counts.length);
      return [...counts.slice(silent), ...Array.from({ length: silent }, () => 0)];
    };
    return { requests: pass(rates.requests), refused: pass(rates.refused) };
  }

  close(): void {
    this.#timer?.cancel();
    this.#unsubscribe();
    this.#query.close();
  }

  #await(untilEndMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.time.realTimer(Math.max(0, untilEndMs) + MARGIN_MS, () => this.#tick());
  }

  /** Handles the end of a second. */
  #tick(): void {
    const { changes, time } = this.#options;
    const rates = this.#query.value;
    const passedMs = rates === undefined ? 0 : time.monotonic() - rates.readAt;
    this.#await(SECOND_MS - (passedMs % SECOND_MS));
    // Counts from a period without events are unknown; they are read again after a reconnect.
    if (!changes.following) return;
    if (this.#isStale) this.#query.reread();
    else this.#silent = Math.floor(passedMs / SECOND_MS);
  }
}

/** Some of the seconds, the first and the last included. */
export const partOf = ({ requests, refused }: Seconds, first: number, last: number): Seconds => ({
  requests: requests.slice(first, last + 1),
  refused: refused.slice(first, last + 1),
});

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** `now`, `refusedNow`: in the last full second. `peak`: the maximum in one second. */
export const figuresOf = ({ requests, refused }: Seconds) => ({
  now: requests.at(-1) ?? 0,
  refusedNow: refused.at(-1) ?? 0,
  total: sum(requests),
  refusedTotal: sum(refused),
  peak: requests.reduce((most, count) => Math.max(most, count), 0),
});

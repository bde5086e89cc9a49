import { createORPCClient, ORPCError } from '@orpc/client';
import type { ChangeEvent } from '../../main/contract/status.ts';
import { isReading } from '../../main/contract/calls.ts';
import type { RealTime } from '../shared/time/real-time.ts';
import { watchPulse } from './pulse.ts';
import { Submits } from './submits.svelte.ts';
import {
  ConnectionLostError,
  SignInRefusedError,
  type CallLink,
  type Client,
  type OpenLink,
  type Transport,
} from './transport.ts';

/**
 * `connecting`: first attempt · `open` · `silent`: connected, but no answers arrive · `lost`: not connected, retrying ·
 * `refused`: the engine rejected the credentials; no retries until there are new ones · `stopped`.
 */
export type ConnectionPhase = 'connecting' | 'open' | 'silent' | 'lost' | 'refused' | 'stopped';

/** Changes in the engine. `everything`: this page may have missed some, so it must read everything again. */
export type Change = { type: 'everything' } | ChangeEvent;

/** Events that outdate everything read before. */
const OUTDATES_ALL: ReadonlySet<ChangeEvent['type']> = new Set(['ready', 'lagged', 'world.restored'] as const);

export interface ConnectionOptions {
  transport: Transport;
  time: RealTime;
  /** A cheap call that proves that the engine answers. */
  pulse: (client: Client) => Promise<void>;
}

/**
 * The page's connection to the engine: opens it, follows `events.watch`, detects loss and silence, and reconnects.
 * `client` stays the same object; without a connection its calls fail with ConnectionLostError. A call that changes
 * something is sent again, for a short time, when its answer was lost.
 */
export class Connection {
  readonly client: Client;
  phase = $state<ConnectionPhase>('connecting');
  /** Whether it was ever open, so the page has content. */
  wasOpen = $state(false);
  #current: OpenLink | null = null;
  /** Whether change events arrive, so values read now will stay current. */
  following = false;
  #run: string | null = null;
  #attempt = 0;
  #wake: (() => void) | null = null;
  #listeners: readonly ((change: Change) => void)[] = [];
  #waiting: readonly (() => void)[] = [];
  readonly #submits: Submits;
  readonly #transport: Transport;
  readonly #time: RealTime;
  readonly #pulse: (client: Client) => Promise<void>;

  constructor({ transport, time, pulse }: ConnectionOptions) {
    this.#transport = transport;
    this.#time = time;
    this.#pulse = pulse;
    this.#submits = new Submits({ time, run: () => this.#run, reconnected: (waitMs) => this.#reconnected(waitMs) });
    this.client = createORPCClient<Client>({
      call: (path, input, options) =>
        isReading(path.join('.'))
          ? this.#call(path, input, options)
          : this.#submits.submit((idempotencyKey) =>
              this.#call(path, input, { ...options, context: { idempotencyKey } }),
            ),
    });
  }

  /** The number of changes that were unanswered when the connection broke; they are sent again under their keys. */
  get unanswered(): number {
    return this.#submits.unanswered;
  }

  /** Resolves when every sent change has an outcome that its sender knows, at the latest after `waitMs`. */
  async answered(waitMs: number): Promise<void> {
    const passed = (ms: number) => new Promise<void>((resolve) => this.#time.realTimer(ms, resolve));
    await Promise.race([this.#submits.answered().then(() => passed(0)), passed(waitMs)]);
  }

  /** Calls `listener` on every change until the returned function is called. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  start(): void {
    void this.#stayConnected();
  }

  retryNow(): void {
    this.#wake?.();
  }

  stop(): void {
    this.phase = 'stopped';
    this.#endWaiting();
    this.#wake?.();
    this.#current?.close();
    this.#listeners = [];
  }

  async #stayConnected(): Promise<void> {
    while (this.phase !== 'stopped') {
      try {
        const opened = await this.#transport.open();
        if (this.#isStopped()) return opened.close();
        await this.#follow(opened);
      } catch (error) {
        if (this.#isStopped()) return;
        if (error instanceof SignInRefusedError) {
          this.phase = 'refused';
          this.#endWaiting();
          return;
        }
      }
      if (this.#isStopped()) return;
      this.phase = 'lost';
      this.#attempt += 1;
      await this.#pause(backoffMs(this.#attempt));
    }
  }

  /** Waits until the open link breaks. */
  async #follow(opened: OpenLink): Promise<void> {
    this.#current = opened;
    const pulse = watchPulse({
      time: this.#time,
      beat: () => this.#pulse(this.client),
      onChange: (alive) => {
        if (this.#current === opened && this.following) this.phase = alive ? 'open' : 'silent';
      },
      onDead: () => opened.close(),
    });
    const watching = this.#watchChanges().catch(() => undefined);
    await Promise.race([opened.closed, watching]);
    pulse.stop();
    this.#current = null;
    this.#run = null;
    this.following = false;
    opened.close();
  }

  async #watchChanges(): Promise<void> {
    for await (const event of await this.client.events.watch()) {
      if (event.type === 'ready') {
        this.#attempt = 0;
        this.#run = event.run ?? null;
        this.following = true;
        this.wasOpen = true;
        this.phase = 'open';
        this.#endWaiting();
      }
      const change: Change = OUTDATES_ALL.has(event.type) ? { type: 'everything' } : event;
      for (const listener of this.#listeners) listener(change);
    }
  }

  async #call(path: readonly string[], input: unknown, options: Parameters<CallLink['call']>[2]): Promise<unknown> {
    const opened = this.#current;
    if (opened === null) throw new ConnectionLostError();
    try {
      return await opened.link.call(path, input, options);
    } catch (error) {
      // When the link breaks, pending calls fail in transport-specific ways.
      if (this.#current !== opened && !(error instanceof ORPCError)) throw new ConnectionLostError();
      throw error;
    }
  }

  /** Resolves when there is a connection, when there will be none, or after `waitMs`. */
  async #reconnected(waitMs: number): Promise<void> {
    if (this.following) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const timer = this.#time.realTimer(waitMs, () => resolve(undefined));
    this.#waiting = [...this.#waiting, () => resolve(undefined)];
    await promise;
    timer.cancel();
  }

  #endWaiting(): void {
    for (const end of this.#waiting) end();
    this.#waiting = [];
  }

  async #pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#time.realTimer(delayMs, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wake = null;
  }

  /** A method, because the phase changes while `#stayConnected` waits. */
  #isStopped(): boolean {
    return this.phase === 'stopped';
  }
}

const FIRST_MS = 250;

/** The page should notice a restarted Vivarium within this time. */
export const BACKOFF_MS_MAX = 4_000;

/** The delay before reconnect attempt `attempt` (from 1), in milliseconds: 250, 500, 1,000, 2,000, then 4,000. */
export const backoffMs = (attempt: number): number =>
  Math.min(BACKOFF_MS_MAX, FIRST_MS * 2 ** Math.max(0, attempt - 1));

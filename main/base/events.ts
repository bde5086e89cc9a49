import { randomUUID } from 'node:crypto';
import type { ChangeEvent } from '../contract/status.ts';
import type { Clock, Timer } from './clock.ts';

/** Changes of one kind within this real time are merged: one event at once, and one at the end. */
const COALESCE_MS = 50;

/**
 * Limit on events queued for a slow subscriber; beyond it, events are dropped and the subscriber receives a lag event.
 */
const QUEUE_MAX = 1_000;

export type ChangeType = Exclude<ChangeEvent['type'], 'ready' | 'lagged'>;
export type ChangeScope = Pick<ChangeEvent, 'projectId' | 'environment' | 'zone'>;

export function createEventBus(clock: Pick<Clock, 'now' | 'realTimer'>) {
  const subscribers = new Set<Subscriber>();
  const quiet = new Map<string, { timer: Timer; again: boolean }>();
  const run = randomUUID();
  let closed = false;

  const stamp = (type: ChangeEvent['type'], scope: ChangeScope = {}): ChangeEvent => ({
    type,
    ...scope,
    at: new Date(clock.now()).toISOString(),
  });

  function tell(type: ChangeType, scope: ChangeScope): void {
    const event = stamp(type, scope);
    for (const subscriber of subscribers) subscriber.push(event);
  }

  function emit(type: ChangeType, scope: ChangeScope = {}): void {
    if (subscribers.size === 0) return;
    const key = `${type} ${scope.projectId ?? ''} ${scope.environment ?? ''} ${scope.zone ?? ''}`;
    const recent = quiet.get(key);
    if (recent !== undefined) {
      recent.again = true;
      return;
    }
    tell(type, scope);
    const timer = clock.realTimer(COALESCE_MS, () => {
      const again = quiet.get(key)?.again === true;
      quiet.delete(key);
      if (again) emit(type, scope);
    });
    quiet.set(key, { timer, again: false });
  }

  return {
    /** Notifies every subscriber of a change. Cheap enough for the hot path. */
    emit,
    /** A stream that starts with `ready` and ends when `signal` aborts, the reader stops, or the bus closes. */
    async *watch(signal?: AbortSignal): AsyncGenerator<ChangeEvent, void, void> {
      const subscriber = createSubscriber(stamp);
      const end = () => subscriber.end();
      subscribers.add(subscriber);
      signal?.addEventListener('abort', end, { once: true });
      if (closed || signal?.aborted === true) end();
      try {
        yield { ...stamp('ready'), run };
        for (;;) {
          const event = await subscriber.next();
          if (event === null) return;
          yield event;
        }
      } finally {
        subscribers.delete(subscriber);
        signal?.removeEventListener('abort', end);
      }
    },
    close(): void {
      closed = true;
      for (const { timer } of quiet.values()) timer.cancel();
      quiet.clear();
      for (const subscriber of subscribers) subscriber.end();
    },
  };
}

type Subscriber = ReturnType<typeof createSubscriber>;

function createSubscriber(stamp: (type: 'lagged') => ChangeEvent) {
  let queue: ChangeEvent[] = [];
  let waiting: ((event: ChangeEvent | null) => void) | null = null;
  let ended = false;
  return {
    push(event: ChangeEvent): void {
      if (ended) return;
      if (waiting !== null) {
        waiting(event);
        waiting = null;
      } else if (queue.length < QUEUE_MAX) {
        queue.push(event);
      } else {
        queue = [stamp('lagged')];
      }
    },
    /** The next event; null after the end. */
    next(): Promise<ChangeEvent | null> {
      const event = queue.shift();
      if (event !== undefined) return Promise.resolve(event);
      if (ended) return Promise.resolve(null);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    end(): void {
      ended = true;
      waiting?.(null);
      waiting = null;
    },
  };
}

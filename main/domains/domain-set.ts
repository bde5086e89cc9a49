import type { EpochMs } from '../base/clock.ts';
import type { Check } from '../contract/domains.ts';
import { conflict, type VivariumError } from '../contract/errors.ts';
import type { Leaf } from '../model/leaf.ts';
import type { IssuanceState, HostnameState } from './hostname-machine.ts';
import type { DomainKind } from './public-suffix.ts';

/** A hostname attached to a project: an immutable value, replaced at every change. */
export interface AttachedDomain extends HostnameState {
  /** Never reused, unlike a hostname, which can be attached again. */
  readonly id: string;
  /** In normal form. */
  readonly hostname: string;
  readonly projectId: string;
  readonly kind: DomainKind;
  readonly attachedAtMs: EpochMs;
  readonly lastCheckedAtMs: EpochMs | null;
  /** Null while suspended, and after the persona's last check. */
  readonly nextCheckAtMs: EpochMs | null;
  /** Since when checks have failed; null while it is verified. */
  readonly seriesAtMs: EpochMs | null;
  /** The DNS checks of the last verification. */
  readonly checks: readonly Check[];
  readonly certificateChecks: readonly Check[];
  readonly certificate: IssuanceState;
  /** The generation of the store that it belongs to, in memory only; a new domain has none. */
  readonly generation?: number;
}

/** Storage of domains. Every method is durable when it returns. */
export interface DomainRows {
  list(): AttachedDomain[];
  insert(row: AttachedDomain): void;
  /** Stores all of them or none; ignores domains that no longer exist. */
  update(changes: readonly DomainChange[]): void;
  remove(id: string): void;
  leaf(hostname: string): Leaf | null;
}

export interface DomainChange {
  readonly row: AttachedDomain;
  /** A new leaf; null keeps the current one. */
  readonly leaf: Leaf | null;
}

interface DomainSetOptions {
  rows: DomainRows;
  /** Called after a write with the old and new values. */
  onCommitted: (changes: readonly DomainTransition[]) => void;
  /** Whether more changes are about to come, which the write waits for. */
  isAwaitingMore: () => boolean;
}

export type DomainSet = ReturnType<typeof createDomainSet>;

/** The attached domains in memory, in step with the store. */
export function createDomainSet(options: DomainSetOptions) {
  const { rows } = options;
  const domains = new Map<string, AttachedDomain>();
  let generation = 0;

  const keep = (domain: AttachedDomain) => void domains.set(domain.hostname, { ...domain, generation });
  rows.list().forEach(keep);

  function current(wanted: Pick<AttachedDomain, 'id' | 'hostname' | 'generation'>): AttachedDomain | null {
    const { id, hostname, generation: known = generation } = wanted;
    const domain = domains.get(hostname);
    return domain?.id === id && known === generation ? domain : null;
  }

  const writes = createWrites(options, { current, revert: (before) => void domains.set(before.hostname, before) });

  function drop(domain: AttachedDomain): void {
    if (current(domain) === null) return;
    domains.delete(domain.hostname);
    writes.forget(domain.hostname);
  }

  return {
    get: (hostname: string): AttachedDomain | null => domains.get(hostname) ?? null,
    /**
     * The current value of the same domain; null once it is removed, even if its hostname is attached again, and once
     * all domains were replaced.
     */
    current,
    list: (): AttachedDomain[] => [...domains.values()],
    leaf: (hostname: string): Leaf | null =>
      writes.leaf(hostname) ?? (domains.has(hostname) ? rows.leaf(hostname) : null),
    get size() {
      return domains.size;
    },
    insert(domain: AttachedDomain): void {
      rows.insert(domain);
      keep(domain);
    },
    /** Takes effect in memory now and is durable after the next `commit`. Ignores removed domains. */
    put(domain: AttachedDomain, leaf: Leaf | null = null): void {
      const before = current(domain);
      if (before === null) return;
      writes.note(before, leaf);
      domains.set(domain.hostname, domain);
    },
    /** Resolves when all pending changes are stored and published; changes put meanwhile share the write. */
    commit: writes.commit,
    /** Stores and publishes synchronously. @throws the store's errors, after reverting the changes. */
    commitNow: writes.commitNow,
    remove(domain: AttachedDomain): void {
      rows.remove(domain.id);
      drop(domain);
    },
    /** Drops the domains of a project that has been removed from the store. */
    forget(projectId: string): AttachedDomain[] {
      const gone = [...domains.values()].filter((domain) => domain.projectId === projectId);
      gone.forEach(drop);
      return gone;
    },
    /** Reads all domains again after the store was replaced; changes to earlier domains are refused. */
    reload(): void {
      generation += 1;
      domains.clear();
      rows.list().forEach(keep);
      writes.abandon(conflict('A snapshot was restored meanwhile; try again.'));
    },
  };
}

/**
 * Groups writes: a synchronous write takes about a millisecond on a disk regardless of its size, so domains verified at
 * the same time are stored and published together.
 */
function createWrites(
  options: DomainSetOptions,
  { current, revert }: { current: DomainSet['current']; revert: (before: AttachedDomain) => void },
) {
  /** The stored values of the domains that changed since the last write. */
  const stored = new Map<string, AttachedDomain>();
  const leaves = new Map<string, Leaf>();
  let waiting: PromiseWithResolvers<undefined> | null = null;
  /** The batch that is stored but not yet published. */
  let publishing: Promise<undefined> | null = null;

  /** Stores the pending changes, and returns a function that publishes them. */
  function storeAll(): () => void {
    const changes: (DomainChange & DomainTransition)[] = [...stored.values()].flatMap((before) => {
      const row = current(before);
      return row === null ? [] : [{ row, leaf: leaves.get(row.hostname) ?? null, before, after: row }];
    });
    stored.clear();
    leaves.clear();
    const waiters = waiting;
    waiting = null;
    const attempt = (work: () => void) => {
      try {
        if (changes.length > 0) work();
      } catch (error) {
        for (const { before } of changes) if (current(before) !== null) revert(before);
        waiters?.reject(error);
        throw error;
      }
    };
    attempt(() => options.rows.update(changes.map(({ row, leaf }) => ({ row, leaf }))));
    return () => {
      attempt(() => options.onCommitted(changes));
      waiters?.resolve(undefined);
    };
  }

  return {
    note(before: AttachedDomain, leaf: Leaf | null): void {
      if (!stored.has(before.hostname)) stored.set(before.hostname, before);
      if (leaf !== null) leaves.set(before.hostname, leaf);
    },
    leaf: (hostname: string): Leaf | undefined => leaves.get(hostname),
    forget(hostname: string): void {
      stored.delete(hostname);
      leaves.delete(hostname);
    },
    commit(): Promise<void> {
      if (stored.size === 0) return publishing ?? Promise.resolve();
      if (waiting === null) {
        waiting = Promise.withResolvers<undefined>();
        const batch = waiting;
        setImmediate(function commitBatch() {
          if (waiting !== batch) return;
          if (options.isAwaitingMore()) return void setImmediate(commitBatch);
          forWaiting(() => {
            const publish = storeAll();
            publishing = batch.promise;
            // Each step takes milliseconds with thousands of domains.
            setImmediate(() => {
              if (publishing === batch.promise) publishing = null;
              forWaiting(publish);
            });
          });
        });
      }
      return waiting.promise;
    },
    commitNow: (): void => storeAll()(),
    /** Drops all pending changes; their callers get the error. */
    abandon(error: VivariumError): void {
      const waiters = waiting;
      waiting = null;
      publishing = null;
      stored.clear();
      leaves.clear();
      waiters?.reject(error);
    },
  };
}

/** Runs a step that callers wait for; they report its error. */
function forWaiting(work: () => void): void {
  try {
    work();
  } catch {
    // Already reported to the waiting callers.
  }
}

export interface DomainTransition {
  readonly before: AttachedDomain;
  readonly after: AttachedDomain;
}

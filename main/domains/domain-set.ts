import type { EpochMs } from '../base/clock.ts';
import type { Check } from '../contract/domains.ts';
import type { Leaf } from '../model/leaf.ts';
import type { CertificateStanding } from './certificate-machine.ts';
import type { HostnameStanding } from './hostname-machine.ts';
import type { DomainKind } from './public-suffix.ts';

/** A hostname that is attached to a project: a value, replaced as a whole at every change. */
export interface AttachedDomain extends HostnameStanding {
  /** Never given twice, unlike a hostname, which can be attached again. */
  readonly id: string;
  /** In normal form. */
  readonly hostname: string;
  readonly projectId: string;
  readonly kind: DomainKind;
  readonly attachedAtMs: EpochMs;
  readonly lastCheckedAtMs: EpochMs | null;
  readonly nextCheckAtMs: EpochMs | null;
  /** Of the DNS, as they were when it was last looked at. */
  readonly checks: readonly Check[];
  /** Of what stands between the hostname and its certificate. */
  readonly certificateChecks: readonly Check[];
  readonly certificate: CertificateStanding;
}

/** What is stored of domains. Every method is durable when it returns. */
export interface DomainRows {
  list(): AttachedDomain[];
  insert(row: AttachedDomain): void;
  /** All of it, or nothing; domains that are gone are left alone. */
  update(changes: readonly DomainChange[]): void;
  remove(id: string): void;
  leaf(hostname: string): Leaf | null;
}

export interface DomainChange {
  readonly row: AttachedDomain;
  /** A new leaf; null leaves the one that is held. */
  readonly leaf: Leaf | null;
}

/** The attached domains in memory, in step with what is stored. */
export interface DomainSet {
  get(hostname: string): AttachedDomain | null;
  /** The same domain as it is now; null when it is gone, even if its hostname is attached again. */
  current(domain: Pick<AttachedDomain, 'id' | 'hostname'>): AttachedDomain | null;
  list(): AttachedDomain[];
  leaf(hostname: string): Leaf | null;
  readonly size: number;
  insert(domain: AttachedDomain): void;
  /** In force here at once; durable with the next `commit`. A domain that is gone stays so. */
  put(domain: AttachedDomain, leaf?: Leaf | null): void;
  /** Resolves when everything that was put is stored and published; what is put meanwhile shares the write. */
  commit(): Promise<void>;
  /** The same at once. @throws what the store throws; what was put is taken back then. */
  commitNow(): void;
  remove(domain: AttachedDomain): void;
  /** Forgets the domains of a project that is not stored any more. */
  forget(projectId: string): AttachedDomain[];
}

/**
 * Writes are grouped: a synchronous write costs about a millisecond on a disk, however much is in it, so domains that
 * are verified at the same time are stored and published together.
 */
export function createDomainSet(options: {
  rows: DomainRows;
  /** Called after a write with the domains as they were and are. */
  onCommitted: (changes: readonly DomainTransition[]) => void;
}): DomainSet {
  const { rows } = options;
  const domains = new Map(rows.list().map((domain) => [domain.hostname, domain]));
  /** What is stored of the domains that have been put since. */
  const stored = new Map<string, AttachedDomain>();
  const leaves = new Map<string, Leaf>();
  let waiting: PromiseWithResolvers<undefined> | null = null;

  const current: DomainSet['current'] = ({ id, hostname }) => {
    const domain = domains.get(hostname);
    return domain?.id === id ? domain : null;
  };

  function commitNow(): void {
    const changes: (DomainChange & DomainTransition)[] = [...stored.values()].flatMap((before) => {
      const row = current(before);
      return row === null ? [] : [{ row, leaf: leaves.get(row.hostname) ?? null, before, after: row }];
    });
    stored.clear();
    leaves.clear();
    const waiters = waiting;
    waiting = null;
    try {
      if (changes.length > 0) {
        rows.update(changes.map(({ row, leaf }) => ({ row, leaf })));
        options.onCommitted(changes);
      }
      waiters?.resolve(undefined);
    } catch (error) {
      for (const { before } of changes) if (current(before) !== null) domains.set(before.hostname, before);
      waiters?.reject(error);
      throw error;
    }
  }

  function drop(domain: AttachedDomain): void {
    if (current(domain) === null) return;
    domains.delete(domain.hostname);
    stored.delete(domain.hostname);
    leaves.delete(domain.hostname);
  }

  return {
    get: (hostname) => domains.get(hostname) ?? null,
    current,
    list: () => [...domains.values()],
    leaf: (hostname) => leaves.get(hostname) ?? (domains.has(hostname) ? rows.leaf(hostname) : null),
    get size() {
      return domains.size;
    },
    insert(domain) {
      rows.insert(domain);
      domains.set(domain.hostname, domain);
    },
    put(domain, leaf = null) {
      const before = current(domain);
      if (before === null) return;
      if (!stored.has(domain.hostname)) stored.set(domain.hostname, before);
      domains.set(domain.hostname, domain);
      if (leaf !== null) leaves.set(domain.hostname, leaf);
    },
    commit() {
      if (stored.size === 0) return Promise.resolve();
      if (waiting === null) {
        waiting = Promise.withResolvers<undefined>();
        const batch = waiting;
        setImmediate(() => {
          if (waiting !== batch) return;
          try {
            commitNow();
          } catch {
            // Told to those who wait.
          }
        });
      }
      return waiting.promise;
    },
    commitNow,
    remove(domain) {
      rows.remove(domain.id);
      drop(domain);
    },
    forget(projectId) {
      const gone = [...domains.values()].filter((domain) => domain.projectId === projectId);
      gone.forEach(drop);
      return gone;
    },
  };
}

export interface DomainTransition {
  readonly before: AttachedDomain;
  readonly after: AttachedDomain;
}

import type { EpochMs } from '../../base/clock.ts';

/**
 * Propagation as data: a change becomes visible after a delay, and queries see the previous records until then. This
 * file accesses neither a clock nor a store.
 */

/** When answers contain a version of a record. */
export interface Visibility {
  /** Null: it is already visible; its propagation is over. */
  readonly visibleFromMs: EpochMs | null;
  /** The end of its visibility; null: it stays. */
  readonly visibleUntilMs: EpochMs | null;
}

/** One version of a record. A changed or removed record keeps one with an end until that has propagated. */
export interface RecordVersion extends Visibility {
  readonly id: string;
  readonly ttlSeconds: number;
  readonly value: string;
}

export interface RRsetChange {
  /** Records that must exist: `id` is for a new value; another TTL replaces that of an existing one. */
  readonly put?: readonly { readonly id: string; readonly ttlSeconds: number; readonly value: string }[];
  readonly remove?: ReadonlySet<string>;
}

/** Whether answers contain it at `nowMs`. */
export const isVisible = ({ visibleFromMs, visibleUntilMs }: Visibility, nowMs: EpochMs): boolean =>
  (visibleFromMs === null || visibleFromMs <= nowMs) && (visibleUntilMs === null || nowMs < visibleUntilMs);

/** Whether it is part of the final state, visible or not. */
export const isCurrent = ({ visibleUntilMs }: Visibility): boolean => visibleUntilMs === null;

/**
 * The versions of one RRset after a change. The change becomes visible as a whole after `delayMs`, together with all
 * earlier changes to the RRset: those scheduled later (under a longer delay) are moved forward, to keep states in
 * order. Versions that are over, or could never become visible, are dropped. A change without effect returns `versions`
 * itself.
 *
 * With a constant delay, the visible state at any moment is the final state of `delayMs` before.
 */
export function changeRRset<Version extends RecordVersion>(
  versions: readonly Version[],
  change: RRsetChange,
  { nowMs, delayMs }: { nowMs: EpochMs; delayMs: number },
): readonly (Version | RecordVersion)[] {
  const { put = [], remove = new Set() } = change;
  const current = new Map<string, Version>();
  for (const version of versions) if (isCurrent(version)) current.set(version.value, version);
  const wanted = new Map(put.map((record) => [record.value, record]));
  const stays = ({ value, ttlSeconds }: RecordVersion) => (wanted.get(value)?.ttlSeconds ?? ttlSeconds) === ttlSeconds;
  const ends = (version: RecordVersion) => isCurrent(version) && (remove.has(version.id) || !stays(version));
  const begin = [...wanted.values()].filter((record) => current.get(record.value)?.ttlSeconds !== record.ttlSeconds);
  if (begin.length === 0 && !versions.some(ends)) return versions;

  const atMs = nowMs + delayMs;
  const visibleFromMs = delayMs > 0 ? atMs : null;
  const kept = versions
    .map((version) => moveUp(version, atMs, ends(version)))
    .filter((version) => isEverVisible(version, nowMs));
  const begun = begin.map(({ id, ttlSeconds, value }): RecordVersion => {
    return { id: current.get(value)?.id ?? id, ttlSeconds, value, visibleFromMs, visibleUntilMs: null };
  });
  return [...kept, ...begun];
}

/** The records answered from a moment on. */
export interface RRsetState<Version> {
  readonly fromMs: EpochMs;
  readonly versions: readonly Version[];
}

/** The visible state at `nowMs` and the pending ones, at most `statesMax` of them. */
export function statesOf<Version extends Visibility>(
  versions: readonly Version[],
  nowMs: EpochMs,
  statesMax: number,
): RRsetState<Version>[] {
  const ahead = new Set<EpochMs>();
  for (const { visibleFromMs, visibleUntilMs } of versions) {
    if (visibleFromMs !== null && visibleFromMs > nowMs) ahead.add(visibleFromMs);
    if (visibleUntilMs !== null && visibleUntilMs > nowMs) ahead.add(visibleUntilMs);
  }
  const moments = [nowMs, ...[...ahead].sort((a, b) => a - b).slice(0, statesMax)];
  return moments.map((fromMs) => ({ fromMs, versions: versions.filter((version) => isVisible(version, fromMs)) }));
}

function moveUp<Version extends RecordVersion>(version: Version, atMs: EpochMs, ends: boolean): Version {
  const { visibleFromMs, visibleUntilMs } = version;
  const from = visibleFromMs === null ? null : Math.min(visibleFromMs, atMs);
  const until = visibleUntilMs === null ? (ends ? atMs : null) : Math.min(visibleUntilMs, atMs);
  return from === visibleFromMs && until === visibleUntilMs
    ? version
    : { ...version, visibleFromMs: from, visibleUntilMs: until };
}

function isEverVisible({ visibleFromMs, visibleUntilMs }: Visibility, nowMs: EpochMs): boolean {
  if (visibleUntilMs === null) return true;
  return visibleUntilMs > nowMs && (visibleFromMs === null || visibleFromMs < visibleUntilMs);
}

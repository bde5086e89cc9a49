import type { EpochMs } from '../base/clock.ts';

/**
 * Propagation as data: what was changed becomes visible later, and until then everybody sees what was there before.
 * Nothing here reads a clock or a store.
 */

/** When a version of a record is among the answers. */
export interface Visibility {
  /** Null: from the beginning, because its propagation has passed. */
  readonly visibleFromMs: EpochMs | null;
  /** The first moment without it; null: it stays. */
  readonly visibleUntilMs: EpochMs | null;
}

/** One version of a record. A record that was changed or removed has one with an end until that has propagated. */
export interface RecordVersion extends Visibility {
  readonly id: string;
  readonly ttlSeconds: number;
  readonly value: string;
}

/** A change to one RRset. */
export interface RRsetChange {
  /** Records that are to be there: `id` is for a value that is not there yet; another TTL replaces the one there. */
  readonly put?: readonly { readonly id: string; readonly ttlSeconds: number; readonly value: string }[];
  /** Ids of records that are to be there no longer. */
  readonly remove?: ReadonlySet<string>;
}

export interface PropagationTime {
  readonly nowMs: EpochMs;
  readonly delayMs: number;
}

/** Whether the server answers with it at `nowMs`. */
export const isVisible = ({ visibleFromMs, visibleUntilMs }: Visibility, nowMs: EpochMs): boolean =>
  (visibleFromMs === null || visibleFromMs <= nowMs) && (visibleUntilMs === null || nowMs < visibleUntilMs);

/** Whether it is what the zone's owner last wanted, visible or not. */
export const isCurrent = ({ visibleUntilMs }: Visibility): boolean => visibleUntilMs === null;

/**
 * The versions of one RRset after a change to it. The change becomes visible as a whole `delayMs` later, together with
 * all changes to the RRset that were made before: one that would have become visible after it (the delay was longer
 * then) comes along, so that no later state shows before an earlier one. What has never been and will never be visible
 * is left out, and so is what is over. A change that changes nothing gives back `versions` themselves.
 *
 * With one delay for all changes, what is visible at a moment is what the owner wanted `delayMs` before it.
 */
export function changeRRset<Version extends RecordVersion>(
  versions: readonly Version[],
  change: RRsetChange,
  { nowMs, delayMs }: PropagationTime,
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

/** What is answered from a moment on. */
export interface RRsetState<Version> {
  readonly fromMs: EpochMs;
  readonly versions: readonly Version[];
}

/** What is answered at `nowMs`, and every other state that is on its way, at most `statesMax` of them. */
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

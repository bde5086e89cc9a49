import type { Clock, EpochMs, Timer } from '../base/clock.ts';
import { NAME_SERVER } from './platform-zone.ts';
import { isVisible, type Visibility } from './propagation.ts';
import { parseZoneValue } from './record-text.ts';
import { isRecordType, type ResourceRecord } from './record.ts';
import { createZone, type Zone } from './zone.ts';
import type { DomainName } from './name.ts';

/** When the store could not be written to; a full disk does not become free in a moment. */
const SETTLE_RETRY_MS = 60_000;

/** A stored zone, as far as it is answered from. */
export interface StoredZone {
  name: DomainName;
  supportsAlias: boolean;
}

/** A stored version of a record; `key` never stands for another one, and all but its visibility never changes. */
export interface StoredVersion extends Visibility {
  key: number;
  name: DomainName;
  type: string;
  ttlSeconds: number;
  /** As `formatZoneValue` writes it. */
  value: string;
}

/** What the publisher needs of the store. */
export interface StoredZones {
  zones(): readonly StoredZone[];
  versions(zone: DomainName): readonly StoredVersion[];
  /** The next moment at which a version begins or ends; null when nothing is on its way. */
  nextChangeMs(): EpochMs | null;
  /** Makes what has become visible permanent, and deletes what is over. The zones that this touched. */
  settle(nowMs: EpochMs): readonly DomainName[];
  /** Moves what is on its way by so much back. */
  moveBack(byMs: number, nowMs: EpochMs): void;
}

export interface ZonePublisher {
  /** The user's zones as everybody sees them at this moment; the same value for a zone that has not changed. */
  zones(): readonly Zone[];
  /** To be called after every change to what is stored of a zone, or of any zone. */
  changed(zone?: DomainName): void;
  /** To be called after the app's clock was moved. */
  clockAdjusted(): void;
  stop(): void;
}

/**
 * Keeps the visible zones in step with what is stored and with the clock: a change that is on its way is published at
 * its moment. When the clock goes back, what was visible stays visible, and what is on its way keeps the time that it
 * still had to go.
 */
export function createZonePublisher(options: {
  clock: Pick<Clock, 'now' | 'at'>;
  stored: StoredZones;
  /** Called when propagation has changed what is visible. */
  onPublished: () => void;
}): ZonePublisher {
  const { clock, stored } = options;
  const built = new Map<DomainName, BuiltZone>();
  let visible: readonly Zone[] | null = null;
  let timer: Timer | null = null;
  let stopped = false;
  /** The clock when it was last looked at: every moment before has been dealt with. */
  let seenMs = clock.now();

  function settle(): void {
    seenMs = clock.now();
    try {
      const touched = stored.settle(seenMs);
      for (const zone of touched) forget(zone);
      if (touched.length > 0) options.onPublished();
      arm();
    } catch (error) {
      // What is visible follows from the moments themselves; only making it permanent has to be tried again.
      for (const zone of built.keys()) forget(zone);
      timer = clock.at(seenMs + SETTLE_RETRY_MS, settle);
      throw error;
    }
  }

  function forget(zone: DomainName): void {
    const known = built.get(zone);
    if (known !== undefined) known.zone = null;
    visible = null;
  }

  function arm(): void {
    timer?.cancel();
    timer = null;
    const nextMs = stopped ? null : stored.nextChangeMs();
    if (nextMs !== null) timer = clock.at(nextMs, settle);
  }

  function build(): readonly Zone[] {
    const zones = stored.zones();
    const names = new Set(zones.map(({ name }) => name));
    for (const name of built.keys()) if (!names.has(name)) built.delete(name);
    return zones.map((zone) => {
      let known = built.get(zone.name);
      if (known === undefined) built.set(zone.name, (known = { records: new Map(), zone: null }));
      return (known.zone ??= buildZone(zone, known, stored.versions(zone.name), clock.now()));
    });
  }

  settle();
  return {
    zones: () => (visible ??= build()),
    changed(zone) {
      seenMs = clock.now();
      if (zone === undefined) visible = null;
      else forget(zone);
      arm();
    },
    clockAdjusted() {
      const nowMs = clock.now();
      if (nowMs < seenMs) stored.moveBack(seenMs - nowMs, nowMs);
      settle();
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}

interface BuiltZone {
  /** Records by key, so that a change parses only what is new. */
  records: Map<number, ResourceRecord>;
  /** Null after a change. */
  zone: Zone | null;
}

function buildZone(
  { name, supportsAlias }: StoredZone,
  known: BuiltZone,
  versions: readonly StoredVersion[],
  nowMs: EpochMs,
): Zone {
  const parsed = new Map<number, ResourceRecord>();
  const visible: ResourceRecord[] = [];
  for (const version of versions) {
    const record = known.records.get(version.key) ?? readVersion(version);
    if (record === null) continue;
    parsed.set(version.key, record);
    if (isVisible(version, nowMs)) visible.push(record);
  }
  known.records = parsed;
  return createZone({ apex: name, nameServer: NAME_SERVER, supportsAlias, records: visible });
}

/** Null for what an older version has stored and this one can't read; the others are not held up by it. */
function readVersion({ name, type, ttlSeconds, value }: StoredVersion): ResourceRecord | null {
  if (!isRecordType(type)) return null;
  const read = parseZoneValue(type, value);
  return read.ok ? { name, ttlSeconds, data: read.data } : null;
}

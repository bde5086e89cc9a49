import type { Clock, ClockAdjustment, EpochMs, Timer } from '../base/clock.ts';
import { nextTurn } from '../base/next-turn.ts';
import { NAME_SERVER } from './platform-zone.ts';
import { isVisible, type Visibility } from './propagation.ts';
import { parseZoneValue } from './record-text.ts';
import { isRecordType, type ResourceRecord } from './record.ts';
import type { ZoneSet } from './zone-set.ts';
import { createZone } from './zone.ts';
import type { DomainName } from '../model/dns-name.ts';

/** When the store could not be written to; a full disk does not become free in a moment. */
const SETTLE_RETRY_MS = 60_000;

/** Names that are settled before others have their turn: some milliseconds. */
const SETTLED_AT_ONCE = 100;

/** When more than one in so many names of a zone have changed, reading the whole zone takes less time than each name. */
const WHOLE_ZONE_SHARE = 8;

/** A stored zone, as far as it is answered from. */
export interface StoredZone {
  name: DomainName;
  supportsAlias: boolean;
  serial: number;
}

/** A stored version of a record. */
export interface StoredVersion extends Visibility {
  name: DomainName;
  type: string;
  ttlSeconds: number;
  /** As `formatZoneValue` writes it. */
  value: string;
}

/** A name of a zone. */
export interface Owner {
  zone: DomainName;
  name: DomainName;
}

/** What the publisher needs of the store. */
export interface StoredZones {
  zones(): readonly StoredZone[];
  zone(name: DomainName): StoredZone | null;
  versions(zone: DomainName): readonly StoredVersion[];
  versionsAt(zone: DomainName, name: DomainName): readonly StoredVersion[];
  /** The next moment at which a version begins or ends; null when nothing is on its way. */
  nextChangeMs(): EpochMs | null;
  /** Where versions begin or end that have not been settled, by `nowMs`: up to about so many. */
  due(nowMs: EpochMs, ownersMax: number): readonly Owner[];
  /** Makes permanent what has become visible there, and deletes what is over. */
  settle(owners: readonly Owner[], nowMs: EpochMs): void;
  /** Moves what is on its way by so much back. */
  moveBack(byMs: number, nowMs: EpochMs): void;
}

export interface ZonePublisher {
  /** To be called after every change to what is stored at names of a zone. */
  recordsChanged(zone: DomainName, names: ReadonlySet<DomainName>): void;
  /** To be called after a zone was made or removed. */
  zoneChanged(name: DomainName): void;
  /** To be called after the app's clock was moved. */
  clockAdjusted(change: Pick<ClockAdjustment, 'movedMs'>): void;
  stop(): void;
}

/**
 * Keeps the visible zones in step with what is stored and with the clock: a change that is on its way is published at
 * its moment. When the clock goes back, what was visible stays visible, and what is on its way keeps the time that it
 * still had to go.
 *
 * All zones are read at once, before there is a question; from then on a change costs what it changes.
 */
export function createZonePublisher(options: {
  clock: Pick<Clock, 'now' | 'at'>;
  stored: StoredZones;
  /** Where the zones are put as everybody sees them at each moment. */
  zones: ZoneSet;
  /** Called when propagation has changed what is visible. */
  onPublished: () => void;
}): ZonePublisher {
  const { clock, stored, zones } = options;
  let timer: Timer | null = null;
  let settling = false;
  let stopped = false;

  /** A zone file's records all arrive at one moment: they are taken in parts, questions in between. */
  async function settle(): Promise<void> {
    if (settling) return;
    settling = true;
    try {
      while (!stopped && settlePart()) await nextTurn();
      settling = false;
      arm();
    } catch (error) {
      settling = false;
      timer?.cancel();
      timer = clock.at(clock.now() + SETTLE_RETRY_MS, settle);
      throw error;
    }
  }

  /** Whether there was something to settle. */
  function settlePart(): boolean {
    const nowMs = clock.now();
    let owners = stored.due(nowMs, SETTLED_AT_ONCE);
    if (owners.length === 0) return false;
    try {
      stored.settle(owners, nowMs);
    } catch (error) {
      // What is visible follows from the moments themselves; only making it permanent has to be tried again.
      owners = stored.due(nowMs, Number.MAX_SAFE_INTEGER);
      throw error;
    } finally {
      for (const [zone, here] of Map.groupBy(owners, ({ zone }) => zone)) {
        refresh(zone, new Set(here.map(({ name }) => name)));
      }
      options.onPublished();
    }
    return true;
  }

  function arm(): void {
    timer?.cancel();
    timer = null;
    if (stopped || settling) return;
    const nextMs = stored.nextChangeMs();
    if (nextMs !== null) timer = clock.at(nextMs, settle);
  }

  /** Reads names of a zone anew, and its SOA. */
  function refresh(apex: DomainName, names: ReadonlySet<DomainName>): void {
    const index = zones.get(apex);
    const zone = stored.zone(apex);
    if (index === undefined || zone === null) return;
    const nowMs = clock.now();
    if (names.size * WHOLE_ZONE_SHARE > index.size) {
      const versions = Map.groupBy(stored.versions(apex), ({ name }) => name);
      for (const name of names) if (name !== apex) index.replace(name, visibleRecords(versions.get(name) ?? [], nowMs));
    } else {
      for (const name of names)
        if (name !== apex) index.replace(name, visibleRecords(stored.versionsAt(apex, name), nowMs));
    }
    index.replace(apex, zoneWith(zone, visibleRecords(stored.versionsAt(apex, apex), nowMs)).records);
  }

  function load(zone: StoredZone): void {
    const records = visibleRecords(stored.versions(zone.name), clock.now());
    zones.put(zoneWith(zone, records));
  }

  // What arrived while Vivarium did not run; nobody waits yet.
  while (settlePart());
  for (const zone of stored.zones()) load(zone);
  arm();
  return {
    recordsChanged(zone, names) {
      refresh(zone, names);
      arm();
    },
    zoneChanged(name) {
      const zone = stored.zone(name);
      if (zone === null) zones.remove(name);
      else load(zone);
      arm();
    },
    clockAdjusted({ movedMs }) {
      // On its way forward, the clock has run the timers.
      if (movedMs < 0) stored.moveBack(-movedMs, clock.now());
      arm();
    },
    stop() {
      stopped = true;
      timer?.cancel();
    },
  };
}

const zoneWith = ({ name, supportsAlias, serial }: StoredZone, records: ResourceRecord[]) =>
  createZone({ apex: name, nameServer: NAME_SERVER, supportsAlias, serial, records });

function visibleRecords(versions: readonly StoredVersion[], nowMs: EpochMs): ResourceRecord[] {
  const records: ResourceRecord[] = [];
  for (const version of versions) {
    const record = isVisible(version, nowMs) ? readVersion(version) : null;
    if (record !== null) records.push(record);
  }
  return records;
}

/** Null for what an older version has stored and this one can't read; the others are not held up by it. */
function readVersion({ name, type, ttlSeconds, value }: StoredVersion): ResourceRecord | null {
  if (!isRecordType(type)) return null;
  const read = parseZoneValue(type, value);
  return read.ok ? { name, ttlSeconds, data: read.data } : null;
}

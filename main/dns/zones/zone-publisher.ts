import type { Clock, ClockAdjustment, EpochMs, Timer } from '../../base/clock.ts';
import { LruMap } from '../../base/lru.ts';
import { nextTurn } from '../../base/turns.ts';
import { NAME_SERVER } from './own-zones.ts';
import { isVisible, type Visibility } from './propagation.ts';
import { parseZoneValue } from '../wire/record-text.ts';
import { readRecordType, type ResourceRecord } from '../wire/record.ts';
import type { ZoneSet } from './zone-set.ts';
import { nextSigningMs, SIGNATURES_KEPT_MAX, zoneSigner, type Signatures } from './zone-signer.ts';
import { createZone } from './zone.ts';
import type { DomainName } from '../../model/dns-name.ts';
import type { ZoneSigning } from '../../model/dns-lookup.ts';

/** Delay after a failed write to the store; a full disk does not recover at once. */
const SETTLE_RETRY_MS = 60_000;

/** Names, and versions, to settle per turn of the event loop: some milliseconds. */
const SETTLED_AT_ONCE = { names: 100, versions: 500 };

export interface StoredZone {
  name: DomainName;
  supportsAlias: boolean;
  serial: number;
  /** Null for a zone that was never signed. */
  signing: ZoneSigning | null;
}

export interface StoredVersion extends Visibility {
  name: DomainName;
  type: string;
  ttlSeconds: number;
  /** As `formatZoneValue` writes it. */
  value: string;
}

interface SettledVersion extends StoredVersion {
  zone: DomainName;
}

export interface Owner {
  zone: DomainName;
  name: DomainName;
}

export interface StoredZones {
  zones(): readonly StoredZone[];
  zone(name: DomainName): StoredZone | null;
  versions(zone: DomainName): readonly StoredVersion[];
  versionsAt(zone: DomainName, name: DomainName): readonly StoredVersion[];
  /** The next moment at which a version begins or ends; null when nothing is pending. */
  nextChangeMs(): EpochMs | null;
  /** The lowest TTL of one RRset as visible at `nowMs`, in seconds and at least `known`; undefined without a record. */
  lowestTtl(rrset: Owner & { type: string }, known: number, nowMs: EpochMs): number | undefined;
  /** Names with versions that began or ended by `nowMs` and are not settled yet; about `ownersMax` of them. */
  due(nowMs: EpochMs, ownersMax: number): readonly Owner[];
  /**
   * Persists the changes that became visible at these names, and deletes past versions: about `max` of them; a name
   * with more takes several calls. `rrsets` counts the RRsets settled by this.
   */
  settle(
    owners: readonly Owner[],
    nowMs: EpochMs,
    max: number,
  ): { gone: readonly SettledVersion[]; added: readonly SettledVersion[]; rrsets: number };
  /** Moves pending moments back by this much. */
  moveBack(byMs: number, nowMs: EpochMs): void;
}

interface ZonePublisherOptions {
  clock: Pick<Clock, 'now' | 'at'>;
  stored: StoredZones;
  /** Receives the zones as visible at each moment. */
  zones: ZoneSet;
  /** Called when propagation has changed visible records. */
  onPublished: () => void;
}

/**
 * Keeps the visible zones in step with the store and the clock: publishes pending changes at their moments. When the
 * clock goes back, visible records stay visible and pending ones keep their remaining delay.
 *
 * Reads all zones once at the start; after that a change costs as much as its names.
 */
export function createZonePublisher(options: ZonePublisherOptions) {
  const { clock, stored, zones } = options;
  const { change, refresh } = createEdits(options);
  const { sign, signAll, noteSigning, signIfDue } = createSigning(options);
  const { settlePart, arm, published, stop } = createSettling(options, { change, refresh });
  const loaded = new Set<DomainName>();

  function load(zone: StoredZone): void {
    const records = visibleRecords(stored.versions(zone.name), clock.now());
    zones.put(zoneWith(zone, records));
    loaded.add(zone.name);
    if (zone.signing?.on === true) sign(zone);
  }

  function unload(name: DomainName): void {
    zones.remove(name);
    loaded.delete(name);
  }

  function loadAll(): void {
    // Settles what fell due while Vivarium was not running; no query is waiting yet.
    while (settlePart());
    for (const zone of stored.zones()) load(zone);
    arm();
    noteSigning();
  }

  loadAll();
  return {
    /** The zones for a question, with the signatures of the moment: a timer would hold up every jump of the clock. */
    current(): ZoneSet {
      signIfDue();
      return zones;
    },
    /** Call after every change to stored records, with the versions that it began or ended at once. */
    recordsChanged(
      zone: DomainName,
      { gone, added }: { gone: readonly StoredVersion[]; added: readonly StoredVersion[] },
    ): void {
      change(zone, gone, added);
      arm();
    },
    /** Call after all stored records of some names were replaced. */
    namesChanged(zone: DomainName, names: readonly DomainName[]): void {
      refresh(zone, new Set(names));
      arm();
    },
    /** Call after a zone was created or removed. */
    zoneChanged(name: DomainName): void {
      const zone = stored.zone(name);
      if (zone === null) unload(name);
      else load(zone);
      arm();
    },
    /** Call after the signing of a zone was changed. */
    signingChanged(name: DomainName): void {
      const zone = stored.zone(name);
      if (zone !== null) sign(zone);
      noteSigning();
    },
    /** Call after the app's clock was moved. */
    clockAdjusted({ movedMs }: Pick<ClockAdjustment, 'movedMs'>): void {
      // A clock moving forward has already run the timers.
      if (movedMs < 0) {
        stored.moveBack(-movedMs, clock.now());
        signAll();
      }
      arm();
    },
    /** Reads all zones again after the store was replaced. */
    reload(): void {
      for (const name of loaded) if (stored.zone(name) === null) unload(name);
      loadAll();
    },
    /** The number of RRsets whose pending changes have become visible, since the start. */
    published,
    stop,
  };
}

/** Changes to the served records of a zone. */
function createEdits({ clock, stored, zones }: Pick<ZonePublisherOptions, 'clock' | 'stored' | 'zones'>) {
  /** Reloads names of a zone, and its SOA. */
  function refresh(apex: DomainName, names: ReadonlySet<DomainName>): void {
    const index = zones.get(apex);
    const zone = stored.zone(apex);
    if (index === undefined || zone === null) return;
    const nowMs = clock.now();
    for (const name of names)
      if (name !== apex) index.replace(name, visibleRecords(stored.versionsAt(apex, name), nowMs));
    index.replace(apex, zoneWith(zone, visibleRecords(stored.versionsAt(apex, apex), nowMs)).records);
  }

  /** Applies a change without reading the other records of a name, which may have all records of a zone. */
  function change(apex: DomainName, gone: readonly StoredVersion[], added: readonly StoredVersion[]): void {
    const index = zones.get(apex);
    const zone = stored.zone(apex);
    if (index === undefined || zone === null || gone.length + added.length === 0) return;
    // The zone's own SOA or NS replace the generated ones.
    const replacesOwn = [...gone, ...added].some(
      ({ name, type }) => name === apex && (type === 'SOA' || type === 'NS'),
    );
    const isElsewhere = ({ name }: { name: DomainName }): boolean => !replacesOwn || name !== apex;
    for (const [first, ...others] of rrsetsOf(gone.filter(isElsewhere))) {
      const { name, type } = first;
      const values = new Set([first, ...others].map(({ value }) => value));
      index.remove(name, type, values, (known) => stored.lowestTtl({ zone: apex, name, type }, known, clock.now()));
    }
    const records = added.filter(isElsewhere).flatMap((version) => readVersion(version) ?? []);
    for (const [name, here] of Map.groupBy(records, ({ name }) => name)) index.add(name, here);
    if (replacesOwn) refresh(apex, new Set());
    else index.setSerial(zone.serial);
  }

  return { refresh, change };
}

/** The signers of the signed zones, and when they next change without an edit. */
function createSigning({ clock, stored, zones }: Pick<ZonePublisherOptions, 'clock' | 'stored' | 'zones'>) {
  const signatures: Signatures = new LruMap(SIGNATURES_KEPT_MAX);
  let dueMs: EpochMs = Infinity;

  function sign({ name, signing }: StoredZone): void {
    const index = zones.get(name);
    if (index === undefined) return;
    index.signer = signing?.on === true ? zoneSigner(name, signing, clock.now(), signatures) : null;
  }

  function noteSigning(): void {
    const nowMs = clock.now();
    const signed = stored.zones().flatMap(({ signing }) => (signing?.on === true ? [signing] : []));
    dueMs = Math.min(Infinity, ...signed.map((signing) => nextSigningMs(signing, nowMs)));
  }

  /** Renews the signatures of all zones when those of one are due, or when a roll of its keys has ended. */
  function signAll(): void {
    for (const zone of stored.zones()) if (zone.signing?.on === true) sign(zone);
    noteSigning();
  }

  return {
    sign,
    signAll,
    noteSigning,
    signIfDue(): void {
      if (clock.now() >= dueMs) signAll();
    },
  };
}

/** Settles the changes that fall due, at their moments. */
function createSettling(
  { clock, stored, onPublished }: ZonePublisherOptions,
  { change, refresh }: ReturnType<typeof createEdits>,
) {
  let timer: Timer | null = null;
  let settling = false;
  let stopped = false;
  let published = 0;

  /** A zone file's records all fall due at once; settling them in parts lets queries run in between. */
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

  /** Returns whether any name was due. */
  function settlePart(): boolean {
    const nowMs = clock.now();
    const owners = stored.due(nowMs, SETTLED_AT_ONCE.names);
    if (owners.length === 0) return false;
    try {
      const { gone, added, rrsets } = stored.settle(owners, nowMs, SETTLED_AT_ONCE.versions);
      published += rrsets;
      const goneFrom = Map.groupBy(gone, ({ zone }) => zone);
      const addedTo = Map.groupBy(added, ({ zone }) => zone);
      for (const zone of new Set([...goneFrom.keys(), ...addedTo.keys()])) {
        change(zone, goneFrom.get(zone) ?? [], addedTo.get(zone) ?? []);
      }
    } catch (error) {
      // Visibility follows from the moments themselves; only the write has to be retried.
      const all = Map.groupBy(stored.due(nowMs, Number.MAX_SAFE_INTEGER), ({ zone }) => zone);
      for (const [zone, here] of all) refresh(zone, new Set(here.map(({ name }) => name)));
      throw error;
    } finally {
      onPublished();
    }
    return true;
  }

  function arm(): void {
    timer?.cancel();
    timer = null;
    if (stopped) return;
    const nextMs = stored.nextChangeMs();
    if (nextMs !== null) timer = clock.at(nextMs, settle);
  }

  return {
    settlePart,
    /** Waits for the next change. */
    arm,
    published: (): number => published,
    stop(): void {
      stopped = true;
      timer?.cancel();
    },
  };
}

const rrsetsOf = (versions: readonly StoredVersion[]): Iterable<[StoredVersion, ...StoredVersion[]]> =>
  Map.groupBy(versions, ({ name, type }) => `${type} ${name}`).values() as Iterable<
    [StoredVersion, ...StoredVersion[]]
  >;

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

/** Null for stored values that this version cannot parse; the zone's other records are still served. */
function readVersion({ name, type, ttlSeconds, value }: StoredVersion): ResourceRecord | null {
  const known = readRecordType(type);
  if (known === null) return null;
  const read = parseZoneValue(known, value);
  return read.ok ? { name, ttlSeconds, data: read.data } : null;
}

import type { Clock, EpochMs } from '../../base/clock.ts';
import { createIdSeries, createId, createUpdateKey } from '../../base/secret.ts';
import { conflict, VivariumError } from '../../contract/errors.ts';
import type { ResourceRecord } from '../../dns/wire/record.ts';
import { changeRRset, isVisible } from '../../dns/zones/propagation.ts';
import { formatZoneValue } from '../../dns/wire/record-text.ts';
import type { RecordRows, VersionChanges, VersionRow, StoredZone, ZoneRows } from '../dependencies.ts';
import { RECORDS_MAX } from '../../contract/zones.ts';
import { ENDING_MAX } from './zone-rules.ts';
import { type Updatable, UPDATE_RECORDS_MAX } from '../../dns/server/update-exchange.ts';
import { planUpdate, type UpdatedZone, type Values } from '../../dns/server/update.ts';
import { createZone, withoutSerial } from '../../dns/zones/zone.ts';

export interface RRsetEdit {
  name: string;
  type: string;
  put: WantedRRset['put'];
  gone: readonly string[];
}

type RRsetKey = Pick<VersionRow, 'name' | 'type'>;
type Version = Pick<VersionRow, 'id' | 'ttlSeconds' | 'value' | 'visibleFromMs' | 'visibleUntilMs'>;
type NewVersion = Omit<VersionRow, 'key'>;
/** A change to one RRset: records to add, and values to remove. */
type Change = Partial<Pick<RRsetEdit, 'put' | 'gone'>>;

export type RecordWriter = ReturnType<typeof createRecordWriter>;

/** Stores record changes; each becomes visible once it has propagated. */
export function createRecordWriter(options: {
  clock: Pick<Clock, 'now'>;
  records: RecordRows;
  propagationMs: () => number;
  /** Called once the change is stored, with its immediate effect on the answers; in force when it returns. */
  onChanged: (zone: string, change: Collected['visible']) => void;
}) {
  const { clock, records } = options;

  /** Adds the stored changes of one RRset to `changes`. Returns the new records. */
  function plan(zone: string, key: RRsetKey, change: Change, changes: Collected, nowMs = clock.now()): number {
    const time = { nowMs, delayMs: options.propagationMs() };
    const { name, type } = key;
    const { put = [], gone = [] } = change;
    // A change affects few of the versions there, regardless of their number.
    const values = [...put.map(({ value }) => value), ...gone];
    const before = records.concerned({ zone, name, type }, values, time.nowMs + time.delayMs);
    const leaving = new Set(gone);
    const remove = new Set(before.filter((version) => leaving.has(version.value)).map(({ id }) => id));
    const after = changeRRset(before, { put, remove }, time);
    if (after === before) return 0;
    changes.isEmpty = false;
    const isSeen = (version: Version): boolean => isVisible(version, nowMs);
    const kept = new Map(after.filter(isStored).map((version) => [version.key, version]));
    const known = new Set<string>();
    for (const version of before) {
      if (version.visibleUntilMs === null) known.add(version.id);
      const now = kept.get(version.key);
      const stays = now !== undefined && isSeen(now);
      if (isSeen(version) && !stays) changes.visible.gone.push(version);
      if (!isSeen(version) && stays) changes.visible.added.push(now);
      if (now === undefined) changes.ended.push(version.key);
      else if (now !== version) {
        changes.moved.push({ ...now, visibleAtMs: Math.min(now.visibleAtMs, now.visibleFromMs ?? now.visibleAtMs) });
      }
    }
    const begun = after.filter((version) => !isStored(version));
    const visibleAtMs = time.nowMs + time.delayMs;
    for (const version of begun) {
      const stored = { ...version, name, type, zone, visibleAtMs };
      changes.begun.push(stored);
      if (isSeen(stored)) changes.visible.added.push(stored);
    }
    return begun.filter(({ id }) => !known.has(id)).length;
  }

  function store(zone: string, changes: Collected, created: number, apply = records.apply): void {
    if (changes.begun.length > 0) checkRoom(records.count(), created, changes);
    // A pending change moves the serial when it becomes visible.
    const { begun, moved, ended } = changes;
    apply({ begun, moved, ended, visibleIn: options.propagationMs() === 0 ? zone : null });
    options.onChanged(zone, changes.visible);
  }

  return {
    /**
     * Adds all records in one transaction; an existing record only gets the new TTL, and an SOA replaces the zone's.
     * Returns the number of new ones. `nowMs`: one moment for all parts of an import, which then become visible
     * together; they are on disk once the records are synced.
     */
    put(zone: string, wanted: readonly ResourceRecord[], nowMs?: EpochMs): number {
      const changes = nothingCollected();
      let created = 0;
      for (const { name, type, put } of rrsetsOf(wanted)) {
        const change = type === 'SOA' ? replacing(records.rrset(zone, name, type), put.slice(-1)) : { put };
        created += plan(zone, { name, type }, change, changes, nowMs);
      }
      const apply = nowMs === undefined ? records.apply : records.applyPart;
      if (!changes.isEmpty) store(zone, changes, created, apply);
      return created;
    },
    /** Replaces a current record. The new one keeps its id, unless it already exists. */
    replace(record: VersionRow, { name, ttlSeconds, data }: ResourceRecord): void {
      const changes = nothingCollected();
      const { zone } = record;
      const key = { name, type: data.type };
      const value = formatZoneValue(data);
      const put = [{ id: record.id, ttlSeconds, value }];
      if (name !== record.name || data.type !== record.type) {
        plan(zone, record, { gone: [record.value] }, changes);
        plan(zone, key, { put }, changes);
      } else {
        plan(zone, key, { put, gone: value === record.value ? [] : [record.value] }, changes);
      }
      if (!changes.isEmpty) store(zone, changes, 0);
    },
    /** Changes RRsets in one transaction: puts records, and removes current ones by value. */
    change(zone: string, edits: readonly RRsetEdit[]): void {
      const changes = nothingCollected();
      let created = 0;
      for (const { name, type, put, gone } of edits) {
        created += plan(zone, { name, type }, { put, gone }, changes) - gone.length;
      }
      if (!changes.isEmpty) store(zone, changes, Math.max(0, created));
    },
    /** Removes a current record; returns the time from which it is no longer answered. */
    remove(record: VersionRow): number {
      const changes = nothingCollected();
      plan(record.zone, record, { gone: [record.value] }, changes);
      store(record.zone, changes, 0);
      return clock.now() + options.propagationMs();
    },
  };
}

interface Collected extends Omit<VersionChanges, 'visibleIn'> {
  isEmpty: boolean;
  /** The versions that the change makes visible, and those that it ends, immediately. */
  visible: { gone: NewVersion[]; added: NewVersion[] };
  begun: NewVersion[];
  moved: VersionRow[];
  ended: number[];
}

/** The change that leaves one record in an RRset. */
function replacing(current: readonly VersionRow[], put: WantedRRset['put']): Change {
  const others = current.filter(({ value }) => value !== put[0]?.value);
  return { put, gone: others.map(({ value }) => value) };
}

const nothingCollected = (): Collected => ({
  isEmpty: true,
  visible: { gone: [], added: [] },
  begun: [],
  moved: [],
  ended: [],
});

const isStored = (version: Version): version is VersionRow => 'key' in version;

function checkRoom(count: { current: number; versions: number }, created: number, changes: Collected): void {
  if (count.current + created > RECORDS_MAX) {
    throw conflict(`There are ${count.current} records; the maximum is ${RECORDS_MAX}. Remove some, or import fewer.`);
  }
  if (count.versions + changes.begun.length - changes.ended.length > RECORDS_MAX + ENDING_MAX) {
    throw conflict(
      `${count.versions - count.current} changes are still propagating; wait for them, or advance the clock.`,
    );
  }
}

interface WantedRRset extends RRsetKey {
  put: { id: string; ttlSeconds: number; value: string }[];
}

/** Groups records by RRset; for a repeated value the last TTL wins. */
function rrsetsOf(wanted: readonly ResourceRecord[]): Iterable<WantedRRset> {
  const rrsets = new Map<string, WantedRRset>();
  const nextId = createIdSeries('rec');
  for (const { name, ttlSeconds, data } of wanted) {
    const key = `${data.type} ${name}`;
    let rrset = rrsets.get(key);
    if (rrset === undefined) rrsets.set(key, (rrset = { name, type: data.type, put: [] }));
    rrset.put.push({ id: nextId(), ttlSeconds, value: formatZoneValue(data) });
  }
  return rrsets.values();
}

/** The secret of a zone's key in base64, made on first use or on request. */
export function updateSecret(zones: ZoneRows, zone: string, renew: boolean): string {
  const known = renew ? null : zones.updateSecret(zone);
  if (known !== null) return known;
  const secret = createUpdateKey();
  zones.setUpdateSecret(zone, secret);
  return secret;
}

/** Updates over DNS: with the same rules, propagation and events as for entered records. */
export function createRecordUpdates(options: {
  zones: ZoneRows;
  records: RecordRows;
  writer: RecordWriter;
  nameServer: string;
  realNow: Updatable['realNow'];
}): Updatable {
  const { zones, records, writer } = options;

  function updated({ name: apex, supportsAlias }: StoredZone): UpdatedZone {
    const { nameServer } = options;
    const made = (type: string): Values => {
      const own = createZone({ apex, nameServer }).records.filter(({ data }) => data.type === type);
      return new Map(own.map(({ ttlSeconds, data }) => [formatZoneValue(withoutSerial(data)), ttlSeconds]));
    };
    const rrset = (name: string, type: string): Values => {
      if (name === apex && records.countOf(apex, name, type) === 0) return made(type);
      return {
        get size() {
          return records.countOf(apex, name, type);
        },
        get: (value) => records.ttlOf({ zone: apex, name, type, value }),
        // One more than an update can delete, so one value remains unless these are all.
        keys: () => records.valuesOf(apex, name, type, UPDATE_RECORDS_MAX + 1).values(),
      };
    };
    return {
      apex,
      supportsAlias,
      nameServer,
      rrset,
      typesAt(name) {
        const stored = records.typesAt(apex, name);
        const missing = name === apex ? ['SOA', 'NS'].filter((type) => !stored.some((row) => row.type === type)) : [];
        return [...stored, ...missing.flatMap((type) => [...made(type).keys()].map((value) => ({ type, value })))];
      },
    };
  }

  return {
    realNow: options.realNow,
    hasZone: (name) => zones.get(name) !== null,
    secretOf(key) {
      const secret = zones.updateSecret(key);
      return secret === null ? null : Buffer.from(secret, 'base64');
    },
    apply(update) {
      const zone = zones.get(update.zone.name);
      if (zone === null) return { rcode: 'NOTAUTH' };
      const plan = planUpdate(update, updated(zone));
      if (!plan.ok) return plan;
      const changes = plan.rrsets.map(({ name, type, put, gone }) => ({
        name,
        type,
        put: [...put].map(([value, ttlSeconds]) => ({ id: createId('rec'), ttlSeconds, value })),
        gone: [...gone],
      }));
      try {
        writer.change(zone.name, changes);
      } catch (error) {
        if (!(error instanceof VivariumError)) throw error;
        return { rcode: 'REFUSED', reason: error.message };
      }
      return { rcode: 'NOERROR' };
    },
  };
}

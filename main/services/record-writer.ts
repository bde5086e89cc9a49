import type { Clock, EpochMs } from '../base/clock.ts';
import { createId } from '../base/secret.ts';
import { VivariumError } from '../contract/errors.ts';
import type { ResourceRecord } from '../dns/record.ts';
import { changeRRset } from '../dns/propagation.ts';
import { formatZoneValue } from '../dns/record-format.ts';
import type { RecordRows, VersionChanges, VersionRow } from './dependencies.ts';
import { ENDING_MAX, RECORDS_MAX } from './zone-rules.ts';

/** Stores record changes; each becomes visible once it has propagated. */
export interface RecordWriter {
  /**
   * Adds all records in one transaction; an existing record only gets its TTL, and a SOA replaces the zone's. Returns the
   * number of new ones. `nowMs`: one moment for all parts of an import, which become visible together then.
   */
  put(zone: string, records: readonly ResourceRecord[], nowMs?: EpochMs): number;
  /** Replaces a current record. The new one keeps its id, unless it exists already. */
  replace(record: VersionRow, wanted: ResourceRecord): void;
  /** Changes RRsets in one transaction: puts records, and removes current ones by value. */
  change(zone: string, changes: readonly RRsetEdit[]): void;
  /** Removes a current record; returns the time from which it is no longer answered. */
  remove(record: VersionRow): number;
}

export interface RRsetEdit {
  name: string;
  type: string;
  put: WantedRRset['put'];
  gone: readonly string[];
}

type RRsetKey = Pick<VersionRow, 'name' | 'type'>;
type Version = Pick<VersionRow, 'id' | 'ttlSeconds' | 'value' | 'visibleFromMs' | 'visibleUntilMs'>;
type NewVersion = Omit<VersionRow, 'key'>;
type Change = Parameters<typeof changeRRset>[1];

export function createRecordWriter(options: {
  clock: Pick<Clock, 'now'>;
  records: RecordRows;
  propagationMs: () => number;
  /** Called once the change is stored, with `added` if it only added these; in force when it returns. */
  onChanged: (zone: string, names: ReadonlySet<string>, added?: readonly NewVersion[]) => void;
}): RecordWriter {
  const { clock, records } = options;

  /** Adds the stored changes of one RRset to `changes`. Returns the records that are new. */
  function plan(zone: string, key: RRsetKey, change: Change, changes: Collected, nowMs = clock.now()): number {
    const time = { nowMs, delayMs: options.propagationMs() };
    const { name, type } = key;
    // What only adds concerns few of the versions there, however many they are.
    const before =
      change.remove === undefined
        ? records.concerned({ zone, name, type }, valuesOf(change), time.nowMs + time.delayMs)
        : records.rrset(zone, name, type);
    const after = changeRRset(before, change, time);
    if (after === before) return 0;
    changes.names.add(key.name);
    const kept = new Map(after.filter(isStored).map((version) => [version.key, version]));
    const known = new Set<string>();
    for (const version of before) {
      if (version.visibleUntilMs === null) known.add(version.id);
      const now = kept.get(version.key);
      if (now === undefined) changes.ended.push(version.key);
      else if (now !== version) {
        changes.moved.push({ ...now, visibleAtMs: Math.min(now.visibleAtMs, now.visibleFromMs ?? now.visibleAtMs) });
      }
    }
    const begun = after.filter((version) => !isStored(version));
    const visibleAtMs = time.nowMs + time.delayMs;
    for (const version of begun) changes.begun.push({ ...version, ...key, zone, visibleAtMs });
    return begun.filter(({ id }) => !known.has(id)).length;
  }

  function store(zone: string, changes: Collected, created: number): void {
    if (changes.begun.length > 0) checkRoom(records.count(), created, changes);
    // A pending change moves the serial when it becomes visible.
    records.apply({ ...changes, visibleIn: options.propagationMs() === 0 ? zone : null });
    const onlyAdds = changes.moved.length === 0 && changes.ended.length === 0;
    options.onChanged(zone, changes.names, onlyAdds ? changes.begun : undefined);
  }

  return {
    put(zone, wanted, nowMs) {
      const changes = nothingCollected();
      let created = 0;
      for (const { name, type, put } of rrsetsOf(wanted)) {
        const change = type === 'SOA' ? replacing(records.rrset(zone, name, type), put.slice(-1)) : { put };
        created += plan(zone, { name, type }, change, changes, nowMs);
      }
      if (changes.names.size > 0) store(zone, changes, created);
      return created;
    },
    replace(record, { name, ttlSeconds, data }) {
      const changes = nothingCollected();
      const { zone } = record;
      const key = { name, type: data.type };
      const value = formatZoneValue(data);
      const put = [{ id: record.id, ttlSeconds, value }];
      if (name !== record.name || data.type !== record.type) {
        plan(zone, record, { remove: new Set([record.id]) }, changes);
        plan(zone, key, { put }, changes);
      } else {
        plan(zone, key, { put, remove: new Set(value === record.value ? [] : [record.id]) }, changes);
      }
      if (changes.names.size > 0) store(zone, changes, 0);
    },
    change(zone, edits) {
      const changes = nothingCollected();
      let created = 0;
      for (const { name, type, put, gone } of edits) {
        const ids = records.concerned({ zone, name, type }, gone, Number.MAX_SAFE_INTEGER).map(({ id }) => id);
        const change = gone.length === 0 ? { put } : { put, remove: new Set(ids) };
        created += plan(zone, { name, type }, change, changes) - gone.length;
      }
      if (changes.names.size > 0) store(zone, changes, Math.max(0, created));
    },
    remove(record) {
      const changes = nothingCollected();
      plan(record.zone, record, { remove: new Set([record.id]) }, changes);
      store(record.zone, changes, 0);
      return clock.now() + options.propagationMs();
    },
  };
}

interface Collected extends Omit<VersionChanges, 'visibleIn'> {
  /** Names with changes. */
  names: Set<string>;
  begun: NewVersion[];
  moved: VersionRow[];
  ended: number[];
}

/** The change after which an RRset has one record. */
function replacing(current: readonly VersionRow[], put: WantedRRset['put']): Change {
  const others = current.filter(({ value }) => value !== put[0]?.value);
  return { put, remove: new Set(others.map(({ id }) => id)) };
}

const nothingCollected = (): Collected => ({ names: new Set(), begun: [], moved: [], ended: [] });

const valuesOf = ({ put = [] }: Change): string[] => put.map(({ value }) => value);

const isStored = (version: Version): version is VersionRow => 'key' in version;

function checkRoom(count: { current: number; versions: number }, created: number, changes: Collected): void {
  if (count.current + created > RECORDS_MAX) {
    throw new VivariumError(
      'conflict',
      `There are ${count.current} records; the maximum is ${RECORDS_MAX}. Remove some, or import fewer.`,
    );
  }
  if (count.versions + changes.begun.length - changes.ended.length > RECORDS_MAX + ENDING_MAX) {
    throw new VivariumError(
      'conflict',
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
  for (const { name, ttlSeconds, data } of wanted) {
    const key = `${data.type} ${name}`;
    let rrset = rrsets.get(key);
    if (rrset === undefined) rrsets.set(key, (rrset = { name, type: data.type, put: [] }));
    rrset.put.push({ id: createId('rec'), ttlSeconds, value: formatZoneValue(data) });
  }
  return rrsets.values();
}

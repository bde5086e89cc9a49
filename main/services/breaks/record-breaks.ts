import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { createId } from '../../base/secret.ts';
import { DOMAIN_EDITS } from '../../breaks/catalogue/domain.ts';
import { type DomainFacts, ofDrill, type StateBreak } from '../../breaks/state-break.ts';
import { conflict } from '../../contract/errors.ts';
import { mention } from '../../contract/calls.ts';
import type { DomainName } from '../../model/dns-name.ts';
import type { BreakRow, KeptUndo } from '../../model/fault.ts';
import type { RecordRows, VersionRow, ZoneRows } from '../dependencies.ts';
import { inputError } from '../projects/project-rules.ts';

/** Maximum records at a name that are kept for the repair. */
const VERSIONS_MAX = 200;

const version = z.object({
  id: z.string(),
  zone: z.string(),
  name: z.string(),
  type: z.string(),
  ttlSeconds: z.number(),
  value: z.string(),
  visibleAtMs: z.number(),
  visibleFromMs: z.number().nullable(),
  visibleUntilMs: z.number().nullable(),
});

/** The stored undo of a break of records: by name, the previous records and the changes. */
const keptRecords = z.object({
  hostname: z.string(),
  zone: z.string(),
  createdAtMs: z.number(),
  names: z.array(
    z.object({
      name: z.string(),
      before: z.array(version.extend({ key: z.number() })),
      /** Types whose records are removed, unless the edit adds them. */
      drop: z.array(z.string()),
      ended: z.array(z.number()),
      begun: z.array(version),
    }),
  ),
});
type Kept = z.infer<typeof keptRecords>;
type KeptName = Kept['names'][number];

/** Finds the break that added a record, unless the break is hidden. */
export function brokenRecords(
  running: readonly Pick<BreakRow, 'id' | 'undo' | 'rule'>[],
): (record: Pick<VersionRow, 'id' | 'type' | 'ttlSeconds' | 'value'>) => string | undefined {
  const breaks = new Map<string, string>();
  for (const { id, undo, rule } of running) {
    if (rule.isHidden) continue;
    const kept = keptRecords.safeParse(undo?.detail);
    const begun = kept.success ? kept.data.names.flatMap((each) => each.begun) : [];
    for (const record of begun) breaks.set(recordText(record), id);
  }
  return (record) => breaks.get(recordText(record));
}

export interface RecordBreakOptions {
  clock: Pick<Clock, 'now'>;
  zones: Pick<ZoneRows, 'get'>;
  records: Pick<RecordRows, 'versionsAt' | 'apply'>;
  /** The facts of an attached hostname; @throws VivariumError `not_found`. */
  domain: (hostname: string) => Pick<DomainFacts, 'hostname' | 'kind' | 'verifiedBefore'>;
  zoneOf: (hostname: string) => { zone: string; supportsAlias: boolean } | null;
  running: () => readonly Pick<BreakRow, 'id' | 'undo' | 'rule'>[];
  publish: (zone: DomainName, names: readonly DomainName[]) => void;
}

/** An entry of `DOMAIN_EDITS` as an edit of the stored records, without propagation. */
export function recordBreak(entry: string, options: RecordBreakOptions): StateBreak {
  const { clock, zones, records } = options;
  const edit = DOMAIN_EDITS.get(entry);
  if (edit === undefined) throw new Error(`No implementation edits records for ${entry}.`);

  function zoneFor(hostname: string): { zone: string; supportsAlias: boolean; createdAtMs: number } {
    const found = options.zoneOf(hostname);
    const row = found === null ? null : zones.get(found.zone);
    if (found !== null && row !== null) return { ...found, createdAtMs: row.createdAtMs };
    throw conflict(
      `${hostname} is in no local zone, so its records can’t be broken. Create the zone first: ${mention('zones.create', { name: hostname })}.`,
    );
  }

  function prepare(text: string, parameters: DomainFacts['parameters']): KeptUndo {
    const domain = options.domain(text);
    const { hostname } = domain;
    const { zone, supportsAlias, createdAtMs } = zoneFor(hostname);
    const at = (name: string): VersionRow[] => versionsAt(zone, name);
    const current = (name: string) => at(name).filter(isCurrent);
    const edits = edit?.({ ...domain, zone, supportsAlias, at: current, parameters }) ?? [];
    if (typeof edits === 'string') throw conflict(`${hostname} can’t be broken this way: ${edits}`);
    const names = edits.map(({ name, drop, add, afterMs = 0 }): KeptName => {
      const before = at(name);
      const isKept = (row: VersionRow) =>
        afterMs === 0 && isSettled(row) && add.some((wanted) => wanted.type === row.type && wanted.value === row.value);
      const ended = before.filter((row) => drop.includes(row.type) && !isKept(row));
      const stays = before.filter((row) => !ended.includes(row) && isCurrent(row));
      const visibleAtMs = clock.now() + afterMs;
      const begun = add
        .filter((wanted) => !stays.some(({ type, value }) => type === wanted.type && value === wanted.value))
        .map((wanted) => ({
          ...wanted,
          id: createId('rec'),
          ...{ zone, name, visibleAtMs, visibleFromMs: afterMs > 0 ? visibleAtMs : null, visibleUntilMs: null },
        }));
      return { name, before, drop: [...drop], ended: ended.map(({ key }) => key), begun };
    });
    refuseOverlap(zone, names);
    return { edits: `records ${hostname}`, detail: { hostname, zone, createdAtMs, names } satisfies Kept };
  }

  function versionsAt(zone: string, name: string): VersionRow[] {
    const versions = records.versionsAt(zone, name);
    if (versions.length <= VERSIONS_MAX) return versions;
    throw conflict(`${name} has more than ${VERSIONS_MAX} records; choose another hostname.`);
  }

  function refuseOverlap(zone: string, names: readonly KeptName[]): void {
    const wanted = new Set(names.map(({ name }) => name));
    for (const { id, undo, rule } of options.running()) {
      const other = keptRecords.safeParse(undo?.detail);
      if (!other.success || other.data.zone !== zone) continue;
      const shared = other.data.names.find(({ name }) => wanted.has(name));
      if (shared === undefined) continue;
      if (rule.isHidden) throw ofDrill(`records ${shared.name}`);
      const how = mention('breaks.stop', { id });
      throw conflict(`The records of ${shared.name} are broken already. Repair that first: ${how}.`);
    }
  }

  /** The same zone as at the start of the break, not a new one of that name. */
  const isThere = ({ zone, createdAtMs }: Kept): boolean => zones.get(zone)?.createdAtMs === createdAtMs;

  return {
    prepare({ on: { hostname }, parameters }) {
      if (hostname === undefined) throw inputError('on.hostname', 'is required: the hostname of an attached domain.');
      return prepare(hostname, parameters);
    },
    apply({ detail }) {
      const kept = keptRecords.parse(detail);
      const { zone, names } = kept;
      if (!isThere(kept) || !names.every((each) => isAsBefore(zone, each))) return;
      const begun = names.flatMap((each) => each.begun);
      records.apply({ begun, moved: [], ended: names.flatMap(({ ended }) => ended), visibleIn: zone });
      publish(kept);
    },
    undo({ detail }, _target, leave) {
      const kept = keptRecords.parse(detail);
      const { zone, names } = kept;
      if (!isThere(kept)) return leave(`records ${kept.hostname}`);
      const repairs = names.map((each) => repairOf(each, records.versionsAt(zone, each.name)));
      const left = names.filter((each, index) => repairs[index]?.isWhole !== true && !isAsBefore(zone, each));
      for (const { name } of left) leave(`records ${name}`);
      const ended = repairs.flatMap((repair) => repair.ended);
      const begun = repairs.flatMap((repair) => repair.begun);
      if (ended.length + begun.length === 0) return;
      records.apply({ begun, moved: [], ended, visibleIn: zone });
      publish(kept);
    },
  };

  /** Whether the edit was never made, or is already undone. */
  function isAsBefore(zone: string, { name, before }: KeptName): boolean {
    return sameSet(records.versionsAt(zone, name).map(keyText), before.map(keyText));
  }

  function publish({ zone, names }: Kept): void {
    options.publish(
      zone,
      names.map(({ name }) => name),
    );
  }
}

/** Whether a version is visible without a pending end. */
const isSettled = ({ visibleFromMs, visibleUntilMs }: VersionRow): boolean =>
  visibleFromMs === null && visibleUntilMs === null;

const isCurrent = ({ visibleUntilMs }: Pick<VersionRow, 'visibleUntilMs'>): boolean => visibleUntilMs === null;

/** The edit that restores a name; incomplete if the changed records have been changed again. */
function repairOf({ before, drop, ended, begun }: KeptName, now: readonly VersionRow[]) {
  const isDropped = ({ type }: { type: string }): boolean => drop.includes(type);
  const gone = new Set(ended);
  const broken = new Set(begun.map(recordText));
  const current = now.filter(isCurrent);
  const expected = [...before.filter((row) => !gone.has(row.key) && isCurrent(row)), ...begun];
  const known = new Set(expected.map(recordText));
  const back = before.filter(({ key }) => gone.has(key));
  // A CNAME must be the only record of its name.
  const hasRoom = !back.some(({ type }) => type === 'CNAME') || current.every((row) => known.has(recordText(row)));
  const isRestored =
    hasRoom && sameSet(current.filter(isDropped).map(recordText), expected.filter(isDropped).map(recordText));
  const removed = current.filter((row) => broken.has(recordText(row)) && (isRestored || !isDropped(row)));
  return {
    ended: removed.map(({ key }) => key),
    begun: isRestored ? back : [],
    isWhole: isRestored && removed.length === begun.length,
  };
}

type Shown = Pick<VersionRow, 'id' | 'type' | 'ttlSeconds' | 'value'>;
const recordText = ({ id, type, ttlSeconds, value }: Shown): string => `${id} ${type} ${ttlSeconds} ${value}`;
const keyText = (row: VersionRow): string => `${row.key} ${recordText(row)}`;

const sameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && new Set([...one, ...other]).size === one.length;

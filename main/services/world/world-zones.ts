import { mapInTurns, nextTurn } from '../../base/turns.ts';
import type { ResolvedWorld } from '../../contract/world.ts';
import type { ResourceRecord } from '../../dns/wire/record.ts';
import { formatRecord } from '../../dns/wire/record-text.ts';
import { isGenerated } from '../../dns/zones/zone.ts';
import { readZoneFileInParts, type ZoneFileFault } from '../../dns/zones/zone-file.ts';
import { type CurrentRecord, type CurrentWorld, recordKey } from './world-current.ts';
import { ownRecords } from './world-removals.ts';
import { type Plan, TWICE } from './world-steps.ts';
import { newZoneName } from '../zones/zone-rules.ts';

/** Zone file entries processed before yielding to other work: a few milliseconds. */
const ENTRIES_PER_TURN = 75;

/** Records compared before yielding to other work: about two milliseconds. */
const RECORDS_PER_TURN = 500;

/** All words of the text in a fault: a message quotes no other file than the one that was given. */
const QUOTED = /".*"/s;

/** Plans the zones of a file: each with its records, and whether it is signed. */
export async function planZones(wanted: NonNullable<ResolvedWorld['zones']>, current: CurrentWorld, plan: Plan) {
  const seen = new Set<string>();
  for (const [given, entry] of Object.entries(wanted)) {
    const path = ['zones', given];
    const name = plan.attempt(path, () => newZoneName(given));
    if (name === undefined) continue;
    if (seen.has(name)) {
      plan.refuse(path, TWICE);
      continue;
    }
    seen.add(name);
    const found = current.zones.get(name);
    const supportsAlias = entry.supportsAlias ?? found?.supportsAlias ?? true;
    if (found !== undefined && found.supportsAlias !== supportsAlias) {
      plan.refuse(
        [...path, 'supportsAlias'],
        `is ${String(found.supportsAlias)} in the zone that exists; remove it first`,
      );
    }
    const mayState = plan.mayState('zone', name, path, false) && plan.mayState('records', name, path, false);
    const { records, faults } = await readZone(
      entry.text,
      { apex: name, supportsAlias },
      found?.records ?? [],
      current,
    );
    for (const { line, message } of faults)
      plan.refuse(path, `line ${line}: ${entry.file === undefined ? message : message.replace(QUOTED, '"…"')}`);
    if (!mayState) continue;
    if (found === undefined) {
      plan.add({
        changes: [{ kind: 'zone', what: name, after: { supportsAlias } }],
        claims: plan.claim('zone', name, { created: true, detail: null }),
        calls: [{ procedure: 'zones.create', input: { name, supportsAlias } }],
      });
    } else plan.keepAs('zone', name);
    await planRecords(name, records, found?.records ?? [], plan);
    if (entry.signed !== undefined) planSigning(name, entry.signed, found?.signed ?? false, path, plan);
  }
}

function planSigning(name: string, after: boolean, before: boolean, path: readonly string[], plan: Plan): void {
  if (!plan.mayState('signing', name, [...path, 'signed'], before && !after)) return;
  if (before === after) return plan.keepAs('signing', name, before);
  plan.add({
    changes: [{ kind: 'signing', what: name, before, after }],
    claims: plan.claim('signing', name, { created: false, detail: before }),
    calls: [{ procedure: 'zones.dnssec', input: { name, signed: after, roll: false } }],
  });
}

/** The records of a zone text, and the lines that an import would reject, by the rules of a careless provider. */
async function readZone(
  text: string,
  { apex, supportsAlias }: { apex: string; supportsAlias: boolean },
  stored: readonly CurrentRecord[],
  { nameServer }: CurrentWorld,
): Promise<{ records: ResourceRecord[]; faults: ZoneFileFault[] }> {
  const byName = Map.groupBy(stored, (record) => record.name);
  const at = (owner: string) => (byName.get(owner) ?? []).map(({ data }) => data).filter(({ type }) => type !== 'SOA');
  const result: { records: ResourceRecord[]; faults: ZoneFileFault[] } = { records: [], faults: [] };
  const options = { apex, supportsAlias, force: true, at };
  for (const read of readZoneFileInParts(text, options, ENTRIES_PER_TURN)) {
    result.faults.push(...read.faults);
    result.records.push(...read.records.filter((record) => !isGenerated(record, apex, nameServer)));
    await nextTurn();
  }
  return result;
}

/** Adds missing records, and removes owned ones that the file no longer contains. */
async function planRecords(
  zone: string,
  wanted: readonly ResourceRecord[],
  stored: readonly CurrentRecord[],
  plan: Plan,
): Promise<void> {
  const withKey = <Each extends Omit<CurrentRecord, 'id'>>(record: Each) => [recordKey(record), record] as const;
  const before = new Map(await mapInTurns(stored, RECORDS_PER_TURN, withKey));
  const after = await mapInTurns(wanted, RECORDS_PER_TURN, withKey);
  const keys = new Set(after.map(([key]) => key));
  const own = new Set(ownRecords(plan, zone));
  const put = after.filter(([key, record]) => {
    const found = before.get(key);
    if (found === undefined) return true;
    // The TTL of a foreign record is kept.
    return own.has(key) && found.ttlSeconds !== record.ttlSeconds;
  });
  const removed = [...before].filter(([key]) => own.has(key) && !keys.has(key)).map(([, record]) => record);
  if (put.length === 0 && removed.length === 0) {
    if (own.size > 0) plan.add({ claims: plan.takeOver('records', zone) });
    return;
  }
  const detail = [...new Set([...own, ...put.map(([key]) => key)])];
  const format = (record: Omit<CurrentRecord, 'id'>): string => formatRecord(record, zone);
  const shown = (lines: readonly string[]) => (lines.length > LISTED_MAX ? lines.length : lines);
  const lines = await mapInTurns(put, RECORDS_PER_TURN, ([, record]) => format(record));
  plan.add({
    changes: [
      {
        kind: 'records',
        what: zone,
        ...(removed.length > 0 && { before: shown(removed.map(format)) }),
        ...(put.length > 0 && { after: shown(lines) }),
      },
    ],
    // Until the calls have run, the file owns both.
    claims: plan.claim('records', zone, { created: true, detail }),
    calls: [
      ...removed.map(({ id }) => ({ procedure: 'records.remove', input: { id } }) as const),
      ...(put.length > 0
        ? [
            {
              procedure: 'zones.import',
              input: { name: zone, text: lines.map((line) => `${line}\n`).join(''), files: {}, force: true },
            } as const,
          ]
        : []),
    ],
  });
  const kept = detail.filter((key) => keys.has(key));
  if (removed.length > 0) plan.add({ claims: plan.claim('records', zone, { created: true, detail: kept }) });
}

/** More records than this are counted in a change. */
const LISTED_MAX = 20;

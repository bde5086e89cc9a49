import type { Ask } from '../../contract/index.ts';
import type { Domain } from '../../contract/domains.ts';
import { conflict } from '../../contract/errors.ts';
import { closestZone, lineOf, nameWithin, planRecord, recordNames } from '../../contract/record-plan.ts';
import type { RecordInfo, ZoneInfo } from '../../contract/zones.ts';

/**
 * Corrects the records of an attached domain in Vivarium's own DNS and the CAA records that forbid its certificate,
 * then verifies the domain. Records elsewhere cannot be changed: the checks in the answer say what they lack.
 */
export async function repairDomain(hostname: string, ask: Ask): Promise<{ changed: string[]; domain: Domain }> {
  const domain = await ask('domains.get', { hostname });
  const records = await repairRecords(domain, ask);
  const zones = await ask('zones.list');
  const changed = [...records, ...(await repairCaa(domain.hostname, zones, ask))];
  return { changed, domain: await ask('domains.verify', { hostname: domain.hostname }) };
}

/** Corrects each record of the instructions in turn. */
async function repairRecords(domain: Domain, ask: Ask): Promise<string[]> {
  const changed: string[] = [];
  for (let index = 0; index < domain.instructions.length; index++) {
    const made = await repairRecord(domain, await ask('zones.list'), ask);
    if (made.length === 0) break;
    changed.push(...made);
  }
  return changed;
}

async function repairRecord(domain: Domain, zones: readonly ZoneInfo[], ask: Ask): Promise<string[]> {
  const zone = closestZone(domain.hostname, zones);
  const names = zone === null ? [] : recordNames(domain, zone.name);
  const records = await Promise.all(names.map((name) => recordsAt(zone?.name ?? '', name, ask)));
  const plan = planRecord(domain, { zone, records: records.flat() });
  if (plan.kind === 'present') return [];
  if (plan.kind === 'impossible') throw conflict(plan.why);
  const changed: string[] = [];
  if (plan.createsZone) {
    await ask('zones.create', { name: plan.zone });
    changed.push(`created the zone ${plan.zone}`);
  }
  const [first, ...others] = plan.replaced;
  for (const other of others) changed.push(await remove(other, ask));
  if (first === undefined) {
    await ask('records.put', { zone: plan.zone, ...plan.record });
    changed.push(`added ${lineOf(plan.record)} to ${plan.zone}`);
  } else {
    await ask('records.update', { id: first.id, ...plan.record });
    changed.push(`replaced ${lineOf(first)} with ${lineOf(plan.record)} in ${plan.zone}`);
  }
  return changed;
}

async function repairCaa(hostname: string, zones: readonly ZoneInfo[], ask: Ask): Promise<string[]> {
  const { verdict, edits } = await ask('caa.explain', { hostname });
  const isLocal = edits.every(({ name }) => closestZone(name, zones) !== null);
  if (verdict !== 'forbidden' || !isLocal) return [];
  const changed: string[] = [];
  for (const { action, name, value } of edits) {
    const zone = closestZone(name, zones);
    if (zone === null) continue;
    const record = { name: nameWithin(name, zone.name), type: 'CAA', value } as const;
    if (action === 'add') {
      await ask('records.put', { zone: zone.name, ...record });
      changed.push(`added ${lineOf(record as RecordInfo)} to ${zone.name}`);
      continue;
    }
    const found = (await recordsAt(zone.name, record.name, ask)).find(
      (candidate) => candidate.type === 'CAA' && candidate.value === value,
    );
    if (found !== undefined) changed.push(await remove(found, ask));
  }
  return changed;
}

const recordsAt = (zone: string, name: string, ask: Ask): Promise<RecordInfo[]> => ask('records.list', { zone, name });

async function remove(record: RecordInfo, ask: Ask): Promise<string> {
  await ask('records.remove', { id: record.id });
  return `removed ${lineOf(record)} from ${record.zone}`;
}

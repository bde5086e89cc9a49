import { shellWord } from '../../base/text/shell.ts';
import type { CheckCode } from '../../contract/check-codes.ts';
import type { Domain } from '../../contract/domains.ts';
import type { CallContext, Services } from '../../contract/index.ts';
import { closestZone, nameWithin, planRecords, type RecordPlan } from '../../contract/record-plan.ts';
import type { ZoneInfo } from '../../contract/zones.ts';
import { readLocalZone } from './local-attachment.ts';

/** The services that know the records of Vivarium's own DNS, and the changes that would make CAA permit issuance. */
export type RepairServices = {
  zones: Pick<Services['zones'], 'list'>;
  records: Pick<Services['records'], 'list'>;
  caa: Pick<Services['caa'], 'explain'>;
};

const OF_CAA: ReadonlySet<CheckCode> = new Set(['caa_forbids', 'caa_on_target']);

/** Codes that the right record alone resolves. */
const OF_RECORD: ReadonlySet<CheckCode> = new Set([
  'no_record',
  'wrong_target',
  'stale_target',
  'cname_with_siblings',
  'a_conflict',
  'txt_missing',
]);

/**
 * Command lines that correct the records of a domain in Vivarium's own DNS, in order; none if its zone is elsewhere, or
 * if no record helps.
 */
export async function repairCommands(
  domain: Domain,
  services: RepairServices,
  context: CallContext,
): Promise<string[]> {
  const failed = domain.checks.filter(({ outcome }) => outcome === 'failed').map(({ code }) => code);
  const ofRecord = failed.some((code) => OF_RECORD.has(code)) ? await recordCommands(domain, services, context) : [];
  const ofCaa = failed.some((code) => OF_CAA.has(code)) ? await caaCommands(domain.hostname, services, context) : [];
  return [...ofRecord, ...ofCaa];
}

async function recordCommands(domain: Domain, services: RepairServices, context: CallContext): Promise<string[]> {
  return planRecords(domain, await readLocalZone(domain, services, context))
    .toReversed()
    .flatMap(commandsOf);
}

function commandsOf(plan: RecordPlan): string[] {
  if (plan.kind !== 'put' || plan.createsZone) return [];
  const { zone, record, replaced } = plan;
  const [last, ...others] = replaced.toReversed();
  const removals = others.toReversed().map(({ id }) => line('record', 'remove', id));
  const { name, type, value } = record;
  return last === undefined
    ? [line('record', 'put', zone, name, type, value)]
    : [
        ...removals,
        line('record', 'update', last.id, ...(last.type === type ? [] : ['--type', type]), '--value', value),
      ];
}

async function caaCommands(hostname: string, services: RepairServices, context: CallContext): Promise<string[]> {
  const { edits } = await services.caa.explain({ hostname, wildcard: false, method: 'http-01' }, context);
  const zones = (await services.zones.list({}, context)) as ZoneInfo[];
  const commands: string[] = [];
  for (const [index, { action, name, value }] of edits.entries()) {
    const before = edits[index - 1];
    // Included in the removal before it.
    if (action === 'add' && before?.action === 'remove' && before.name === name) continue;
    const zone = closestZone(name, zones)?.name;
    if (zone === undefined) return [];
    const relative = nameWithin(name, zone);
    if (action === 'add') {
      commands.push(line('record', 'put', zone, relative, 'CAA', value));
      continue;
    }
    const there = await services.records.list({ zone, name: relative }, context);
    const found = there.find((record) => record.type === 'CAA' && record.value === value);
    if (found === undefined) return [];
    const next = edits[index + 1];
    if (next?.action === 'add' && next.name === name) {
      commands.push(line('record', 'update', found.id, '--value', next.value));
    } else {
      commands.push(line('record', 'remove', found.id));
    }
  }
  return commands;
}

const line = (...words: readonly string[]): string =>
  ['vivarium', ...words.map((word) => shellWord(word, process.platform))].join(' ');

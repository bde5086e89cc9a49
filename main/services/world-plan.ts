import { isDeepStrictEqual } from 'node:util';
import { mapInTurns, nextTurn } from '../base/turns.ts';
import { environment as environments } from '../contract/values.ts';
import { isWildcard } from '../contract/wildcards.ts';
import type { ResolvedProject, ResolvedWorld, WorldKind } from '../contract/world.ts';
import { evaluateAttach } from '../domains/attach-rules.ts';
import { evaluateHostname } from '../domains/hostname-rules.ts';
import { type DomainRedirect, evaluateRedirects } from '../domains/redirects.ts';
import type { ResourceRecord } from '../dns/record.ts';
import { formatRecord } from '../dns/record-format.ts';
import { isGenerated, withoutSerial } from '../dns/zone.ts';
import { readZoneFileInParts, type ZoneFileFault } from '../dns/zone-file.ts';
import { limitsForPlan, slugFault } from './project-rules.ts';
import { type CurrentProject, type CurrentRecord, type CurrentWorld, recordKey } from './world-current.ts';
import { ownRecords, planRemovals, type Stated } from './world-removals.ts';
import { createPlan, type Ownership, type Plan, type WorldPlan } from './world-steps.ts';
import { newZoneName } from './zone-rules.ts';

/** Domains checked before yielding to other work: about a millisecond. */
const DOMAINS_PER_TURN = 250;

/** Zone file entries processed before yielding to other work: a few milliseconds. */
const ENTRIES_PER_TURN = 75;

/**
 * Compares a file with what is there, and checks all of it: the calls that make the world as the file has it. Pure, but
 * for turns of other work in between.
 */
export async function planWorld(file: ResolvedWorld, current: CurrentWorld, ownership: Ownership): Promise<WorldPlan> {
  const plan = createPlan(ownership);
  const left = planRemovals(statedIn(file), current, plan);
  planClock(file.clock, left, plan);
  planSettings(file.settings ?? {}, left, plan);
  await planZones(file.zones ?? {}, left, plan);
  const holders = new Map(left.domains);
  for (const [slug, entry] of Object.entries(file.projects ?? {})) {
    await planProject({ slug, entry, file, current: left, holders }, plan);
    await nextTurn();
  }
  return plan.result;
}

function statedIn({ clock, settings = {}, projects = {}, zones = {} }: ResolvedWorld): Stated {
  const said = new Set<string>();
  const projectOf = new Map<string, string>();
  const say = (kind: string, what: string) => void said.add(`${kind} ${what}`);
  if (clock !== undefined) say('clock', 'clock');
  for (const name of Object.keys(settings)) say('setting', name);
  for (const [name, { signed }] of Object.entries(zones)) {
    say('zone', normalZone(name));
    say('records', normalZone(name));
    if (signed !== undefined) say('signing', normalZone(name));
  }
  for (const [slug, { keys = [], pets = {}, domains = {}, primary, requests }] of Object.entries(projects)) {
    say('project', slug);
    for (const name of keys) say('key', `${slug}/${name}`);
    for (const name of Object.keys(pets)) say('pets', `${slug}/${name}`);
    for (const [hostname, { redirect }] of Object.entries(domains)) {
      say('domain', normalForm(hostname));
      projectOf.set(normalForm(hostname), slug);
      if (redirect !== undefined) say('redirect', normalForm(hostname));
    }
    if (primary !== undefined) say('primary', slug);
    if (requests !== undefined) say('requests', slug);
  }
  return {
    has: ({ kind, what }) => said.has(`${kind} ${what}`),
    projectOf: (hostname) => projectOf.get(hostname),
  };
}

function planClock(wanted: ResolvedWorld['clock'], { clock }: CurrentWorld, plan: Plan): void {
  if (wanted === undefined || !plan.mayState('clock', 'clock', ['clock'], true)) return;
  const at = new Date(wanted.at).toISOString();
  if (clock.frozen && clock.now === at) return plan.keep();
  plan.add({
    changes: [{ kind: 'clock', what: 'clock', before: clock.now, after: at }],
    claims: plan.claim('clock', 'clock', { created: false, detail: null }),
    calls: [
      { procedure: 'clock.freeze', input: undefined },
      { procedure: 'clock.set', input: { to: at } },
    ],
  });
}

function planSettings(wanted: NonNullable<ResolvedWorld['settings']>, { settings }: CurrentWorld, plan: Plan): void {
  for (const [name, value] of Object.entries(wanted)) {
    const before = settings[name];
    const after = name === 'caaIdentity' ? { ...(before as object), ...(value as object) } : value;
    const isSame = isDeepStrictEqual(before, after);
    if (!plan.mayState('setting', name, ['settings', name], !isSame)) continue;
    if (isSame) keepAs(plan, 'setting', name, before);
    else {
      plan.add({
        changes: [{ kind: 'setting', what: name, before, after }],
        claims: plan.claim('setting', name, { created: false, detail: before }),
        calls: [{ procedure: 'settings.update', input: { [name]: value } }],
      });
    }
  }
}

/** Of names that differ in a text, such as in case, and are the same one. */
const TWICE = 'is in the file twice; leave one of the two out';

async function planZones(wanted: NonNullable<ResolvedWorld['zones']>, current: CurrentWorld, plan: Plan) {
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
    for (const { line, message } of faults) plan.refuse(path, `line ${line}: ${message}`);
    if (!mayState) continue;
    if (found === undefined) {
      plan.add({
        changes: [{ kind: 'zone', what: name, after: { supportsAlias } }],
        claims: plan.claim('zone', name, { created: true, detail: null }),
        calls: [{ procedure: 'zones.create', input: { name, supportsAlias } }],
      });
    } else keepAs(plan, 'zone', name);
    planRecords(name, records, found?.records ?? [], plan);
    if (entry.signed !== undefined) planSigning(name, entry.signed, found?.signed ?? false, path, plan);
  }
}

function planSigning(name: string, after: boolean, before: boolean, path: readonly string[], plan: Plan): void {
  if (!plan.mayState('signing', name, [...path, 'signed'], before && !after)) return;
  if (before === after) return keepAs(plan, 'signing', name, before);
  plan.add({
    changes: [{ kind: 'signing', what: name, before, after }],
    claims: plan.claim('signing', name, { created: false, detail: before }),
    calls: [{ procedure: 'zones.dnssec', input: { name, signed: after, roll: false } }],
  });
}

/** The records of a zone text, and the lines that an import would reject. What a careless provider would accept is accepted. */
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
    for (const record of read.records) {
      if (isGenerated(record, apex, nameServer)) continue;
      result.records.push({ ...record, data: withoutSerial(record.data) });
    }
    await nextTurn();
  }
  return result;
}

/** Adds what is missing, and removes what the file has put there and no longer has. */
function planRecords(zone: string, wanted: readonly ResourceRecord[], stored: readonly CurrentRecord[], plan: Plan) {
  const before = new Map(stored.map((record) => [recordKey(record), record]));
  const keys = new Set(wanted.map(recordKey));
  const own = new Set(ownRecords(plan, zone));
  const isOther = (record: ResourceRecord): boolean => {
    const found = before.get(recordKey(record));
    if (found === undefined) return true;
    // The TTL of a record that came from elsewhere stays.
    return own.has(recordKey(record)) && found.ttlSeconds !== record.ttlSeconds;
  };
  const put = wanted.filter(isOther);
  const removed = stored.filter((record) => own.has(recordKey(record)) && !keys.has(recordKey(record)));
  if (put.length === 0 && removed.length === 0) {
    if (own.size > 0) plan.add({ claims: plan.takeOver('records', zone) });
    return;
  }
  const detail = [...new Set([...own, ...put.map(recordKey)])];
  const lines = (records: readonly Omit<CurrentRecord, 'id'>[]) =>
    records.length > LISTED_MAX ? records.length : records.map((record) => formatRecord(record, zone));
  const text = put.map((record) => `${formatRecord(record, zone)}\n`).join('');
  plan.add({
    changes: [
      {
        kind: 'records',
        what: zone,
        ...(removed.length > 0 && { before: lines(removed) }),
        ...(put.length > 0 && { after: lines(put) }),
      },
    ],
    // Until the calls have run, the file owns both.
    claims: plan.claim('records', zone, { created: true, detail }),
    calls: [
      ...removed.map(({ id }) => ({ procedure: 'records.remove', input: { id } }) as const),
      ...(put.length > 0
        ? [{ procedure: 'zones.import', input: { name: zone, text, files: {}, force: true } } as const]
        : []),
    ],
  });
  const kept = detail.filter((key) => keys.has(key));
  if (removed.length > 0) plan.add({ claims: plan.claim('records', zone, { created: true, detail: kept }) });
}

/** More records than this are counted in a change. */
const LISTED_MAX = 20;

interface PlannedProject {
  slug: string;
  entry: ResolvedProject;
  file: ResolvedWorld;
  current: CurrentWorld;
  /** The projects of hostnames, those that this plan attaches included. */
  holders: Map<string, string>;
}

async function planProject(planned: PlannedProject, plan: Plan): Promise<void> {
  const { slug, entry, current } = planned;
  const row = current.projects.get(slug) ?? null;
  const path = ['projects', slug];
  const subject = { name: entry.name ?? row?.name ?? slug, plan: entry.plan ?? row?.plan ?? 'free' };
  const kept = subject.plan === 'enterprise' ? row?.limits : null;
  plan.attempt([...path, 'limits'], () => limitsForPlan(subject.plan, entry.limits ?? kept));
  const { name, plan: planName, limits, target } = entry;
  const given = { name, plan: planName, limits, target };
  if (row === null) {
    const fault = slugFault(slug);
    if (fault !== null) plan.refuse(path, fault);
    if (plan.mayState('project', slug, path, false)) {
      const input = { slug, ...subject, ...(limits && { limits }), ...(target && { target }) };
      plan.add({
        changes: [{ kind: 'project', what: slug, after: input }],
        claims: plan.claim('project', slug, { created: true, detail: null }),
        calls: [{ procedure: 'projects.create', input }],
      });
    }
  } else {
    const changed = Object.entries(given).filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(value, row[field as keyof typeof given]),
    );
    const after = Object.fromEntries(changed);
    const before = Object.fromEntries(changed.map(([field]) => [field, row[field as keyof typeof given]]));
    if (!plan.mayState('project', slug, path, changed.length > 0)) return;
    if (changed.length === 0) keepAs(plan, 'project', slug);
    else {
      plan.add({
        changes: [{ kind: 'project', what: slug, before, after }],
        claims: plan.takeOver('project', slug),
        calls: [{ procedure: 'projects.update', input: { projectId: slug, ...after } }],
      });
    }
  }
  planKeys(planned, row, plan);
  planPets(planned, row, plan);
  planRequests(planned, row, plan);
  await planDomains(planned, row, subject, plan);
}

type Row = CurrentProject | null;

function planKeys({ slug, entry }: PlannedProject, row: Row, plan: Plan): void {
  const names = (row?.keys ?? []).map(({ name }) => name);
  for (const name of entry.keys ?? []) {
    const what = `${slug}/${name}`;
    const found = names.indexOf(name);
    if (!plan.mayState('key', what, ['projects', slug, 'keys'], false)) continue;
    if (found >= 0) {
      names.splice(found, 1);
      keepAs(plan, 'key', what);
      continue;
    }
    plan.add({
      changes: [{ kind: 'key', what, after: name }],
      claims: plan.claim('key', what, { created: true, detail: null }),
      calls: [{ procedure: 'keys.create', input: { projectId: slug, name } }],
    });
  }
}

function planRequests({ slug, entry }: PlannedProject, row: Row, plan: Plan): void {
  const text = entry.requests;
  if (text === undefined) return;
  const before = row?.requests ?? '';
  const isSame = before === text;
  if (!plan.mayState('requests', slug, ['projects', slug, 'requests'], !isSame && before !== '')) return;
  if (isSame) return keepAs(plan, 'requests', slug);
  plan.add({
    changes: [{ kind: 'requests', what: slug, ...(before !== '' && { before }), after: text }],
    claims: plan.claim('requests', slug, { created: before === '', detail: null }),
    calls: [{ procedure: 'requests.save', input: { projectId: slug, text } }],
  });
}

/** Only into datasets without pets: applying the file again must add none, and pets that are there are kept. */
function planPets({ slug, entry, file }: PlannedProject, row: Row, plan: Plan): void {
  for (const environment of environments.options) {
    const wanted = entry.pets?.[environment] ?? 0;
    const list = typeof wanted === 'number' ? [] : wanted;
    const count = typeof wanted === 'number' ? wanted : list.length;
    const path = ['projects', slug, 'pets', environment];
    const ids = list.flatMap((pet) => pet.id ?? []);
    if (new Set(ids).size < ids.length) plan.refuse(path, 'has an id twice; leave one of the pets out');
    if (count === 0) continue;
    if (row !== null && row.pets[environment] > 0) {
      plan.keep();
      continue;
    }
    const input = { projectId: slug, environment } as const;
    plan.add({
      changes: [{ kind: 'pets', what: `${slug}/${environment}`, after: count }],
      claims: plan.claim('pets', `${slug}/${environment}`, { created: true, detail: null }),
      calls: [
        list.length > 0
          ? { procedure: 'pets.import', input: { ...input, format: 'json', text: JSON.stringify(list), more: false } }
          : { procedure: 'pets.seed', input: { ...input, count, skip: file.seed ?? 0 } },
      ],
    });
  }
}

interface Subject {
  name: string;
  plan: CurrentProject['plan'];
}

async function planDomains(planned: PlannedProject, row: Row, subject: Subject, plan: Plan): Promise<void> {
  const { slug, entry, current, holders } = planned;
  const holderOf = (hostname: string) => {
    const holder = holders.get(hostname);
    if (holder === undefined) return null;
    return { id: holder, name: current.projects.get(holder)?.name ?? planned.file.projects?.[holder]?.name ?? holder };
  };
  const attach: string[] = [];
  const seen = new Set<string>();
  await mapInTurns(Object.keys(entry.domains ?? {}), DOMAINS_PER_TURN, (given) => {
    const path = ['projects', slug, 'domains', given];
    const facts = { project: { id: slug, slug, ...subject, deployed: true }, holderOf };
    const verdict = evaluateAttach(given, facts);
    const hostname = normalForm(given);
    if (seen.has(hostname)) return plan.refuse(path, TWICE);
    seen.add(hostname);
    if (verdict.ok) {
      if (!plan.mayState('domain', hostname, path, false)) return;
      attach.push(hostname);
      holders.set(hostname, slug);
    } else if (verdict.refusal.rule === 'same_project') {
      if (!plan.mayState('domain', hostname, path, false)) return;
      keepAs(plan, 'domain', hostname);
    } else plan.refuse(path, `${verdict.refusal.message} ${verdict.refusal.fix}`);
  });
  if (attach.length > 0 && row?.deployed !== true) {
    plan.add({ calls: [{ procedure: 'deployed', input: { projectId: slug } }] });
  }
  for (const hostname of attach) {
    plan.add({
      changes: [{ kind: 'domain', what: `${slug}/${hostname}`, after: hostname }],
      claims: plan.claim('domain', hostname, { created: true, detail: null }),
      calls: [{ procedure: 'domains.attach', input: { projectId: slug, hostname, local: false } }],
    });
  }
  planRedirects(planned, row, plan);
  planPrimary(planned, row, plan);
}

function planRedirects({ slug, entry, file, current, holders }: PlannedProject, row: Row, plan: Plan): void {
  const wanted = Object.entries(entry.domains ?? {}).flatMap(([given, { redirect, ...how }]) =>
    redirect === undefined ? [] : [{ given, from: normalForm(given), to: redirect, ...how }],
  );
  if (wanted.length === 0) return;
  const before = row?.redirects ?? [];
  const kept = before.filter(({ from }) => wanted.every((redirect) => redirect.from !== from));
  const inFile = new Set(Object.keys(file.projects ?? {}));
  const others = [...current.projects].flatMap(([other, { redirects }]) => (other === slug ? [] : redirects));
  const othersInFile = [...inFile].flatMap((other) =>
    other === slug
      ? []
      : Object.entries(file.projects?.[other]?.domains ?? {}).flatMap(([from, { redirect }]) =>
          redirect === undefined ? [] : [{ from: normalForm(from), to: redirect, status: 301 as const }],
        ),
  );
  const verdict = evaluateRedirects([...kept, ...wanted.map(({ given: _, ...redirect }) => redirect)], {
    projectId: slug,
    holderOf: (hostname) => (holders.get(hostname) === slug ? { projectId: slug } : null),
    others: [...others, ...othersInFile],
  });
  if (!verdict.ok) {
    for (const { path, message } of verdict.issues) {
      const given = wanted[Number(/\d+/.exec(path)?.[0]) - kept.length]?.given;
      plan.refuse(['projects', slug, 'domains', ...(given === undefined ? [] : [given, 'redirect'])], message);
    }
    return;
  }
  const changes: { after: DomainRedirect; before: DomainRedirect | undefined }[] = [];
  for (const after of verdict.redirects) {
    const old = before.find(({ from }) => from === after.from);
    const given = wanted.find(({ from }) => from === after.from)?.given;
    if (given === undefined) continue;
    const path = ['projects', slug, 'domains', given, 'redirect'];
    const isSame = isDeepStrictEqual(old, after);
    if (!plan.mayState('redirect', after.from, path, !isSame && old !== undefined)) continue;
    if (isSame) keepAs(plan, 'redirect', after.from);
    else changes.push({ after, before: old });
  }
  if (changes.length === 0) return;
  plan.add({
    changes: changes.map(({ before: old, after }) => ({
      kind: 'redirect',
      what: `${slug}/${after.from}`,
      ...(old !== undefined && { before: old }),
      after,
    })),
    claims: changes.flatMap(({ after, before: old }) =>
      plan.claim('redirect', after.from, { created: old === undefined, detail: null }),
    ),
    calls: [{ procedure: 'domains.setRedirects', input: { projectId: slug, redirects: verdict.redirects } }],
  });
}

function planPrimary({ slug, entry: { primary }, holders }: PlannedProject, row: Row, plan: Plan): void {
  if (primary === undefined) return;
  const path = ['projects', slug, 'primary'];
  const after = primary === null ? null : normalForm(primary);
  if (after !== null && (isWildcard(after) || holders.get(after) !== slug)) {
    plan.refuse(path, 'must be one of the domains, no wildcard, or null for the platform’s own');
  }
  const before = row?.primary ?? null;
  if (!plan.mayState('primary', slug, path, before !== after && before !== null)) return;
  if (before === after) return keepAs(plan, 'primary', slug);
  plan.add({
    changes: [{ kind: 'primary', what: slug, before, after }],
    claims: plan.claim('primary', slug, { created: before === null, detail: null }),
    calls: [{ procedure: 'domains.setPrimary', input: { projectId: slug, hostname: after } }],
  });
}

/** Counts an entry that is as it should be, and lets an adopting file own it. */
function keepAs(plan: Plan, kind: WorldKind, what: string, detail: unknown = null): void {
  const claims = plan.takeOver(kind, what, detail);
  if (claims.length > 0) plan.add({ claims });
  plan.keep();
}

function normalForm(text: string): string {
  const verdict = evaluateHostname(text);
  return verdict.ok ? verdict.hostname : text;
}

function normalZone(text: string): string {
  try {
    return newZoneName(text);
  } catch {
    return text;
  }
}

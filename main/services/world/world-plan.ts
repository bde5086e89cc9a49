import { isDeepStrictEqual } from 'node:util';
import { mapInTurns, nextTurn } from '../../base/turns.ts';
import { factsOf } from '../../contract/plans.ts';
import { environment as environments } from '../../contract/values.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import type { ResolvedProject, ResolvedWorld } from '../../contract/world.ts';
import { evaluateAttach } from '../../domains/attach-rules.ts';
import { type DomainRedirect, evaluateRedirects } from '../../domains/redirects.ts';
import { limitsForPlan, slugFault } from '../projects/project-rules.ts';
import { type CurrentProject, type CurrentWorld, normalForm, normalZone } from './world-current.ts';
import { planRemovals, type Stated } from './world-removals.ts';
import { createPlan, type Ownership, type Plan, TWICE, type WorldPlan, planTables } from './world-steps.ts';
import { planZones } from './world-zones.ts';

/** Domains checked before yielding to other work: about a millisecond. */
const DOMAINS_PER_TURN = 250;

/**
 * Compares a file with the current state, checks all of it, and plans the calls that apply it. Pure, except
 * that it yields to other work.
 */
export async function planWorld(file: ResolvedWorld, current: CurrentWorld, ownership: Ownership): Promise<WorldPlan> {
  const plan = createPlan(ownership);
  const after = planRemovals(await statedIn(file), current, plan);
  planClock(file.clock, after, plan);
  planSettings(file.settings ?? {}, after, plan);
  await planZones(file.zones ?? {}, after, plan);
  const holders = new Map(after.domains);
  for (const [slug, entry] of Object.entries(file.projects ?? {})) {
    await planProject({ slug, entry, file, current: after, holders }, plan);
    await nextTurn();
  }
  planTables(file, plan);
  return plan.result;
}

async function statedIn({ clock, settings = {}, projects = {}, zones = {} }: ResolvedWorld): Promise<Stated> {
  const stated = new Set<string>();
  const projectOf = new Map<string, string>();
  const add = (kind: string, what: string) => void stated.add(`${kind} ${what}`);
  if (clock !== undefined) add('clock', 'clock');
  for (const name of Object.keys(settings)) add('setting', name);
  for (const [name, { signed }] of Object.entries(zones)) {
    add('zone', normalZone(name));
    add('records', normalZone(name));
    if (signed !== undefined) add('signing', normalZone(name));
  }
  for (const [slug, { keys = [], pets = {}, domains = {}, primary, requests }] of Object.entries(projects)) {
    add('project', slug);
    for (const name of keys) add('key', `${slug}/${name}`);
    for (const name of Object.keys(pets)) add('pets', `${slug}/${name}`);
    await mapInTurns(Object.entries(domains), DOMAINS_PER_TURN, ([given, { redirect }]) => {
      const hostname = normalForm(given);
      add('domain', hostname);
      projectOf.set(hostname, slug);
      if (redirect !== undefined) add('redirect', hostname);
    });
    if (primary !== undefined) add('primary', slug);
    if (requests !== undefined) add('requests', slug);
  }
  return {
    has: ({ kind, what }) => stated.has(`${kind} ${what}`),
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
    if (isSame) plan.keepAs('setting', name, before);
    else {
      plan.add({
        changes: [{ kind: 'setting', what: name, before, after }],
        claims: plan.claim('setting', name, { created: false, detail: before }),
        calls: [{ procedure: 'settings.update', input: { [name]: value } }],
      });
    }
  }
}

interface PlannedProject {
  slug: string;
  entry: ResolvedProject;
  file: ResolvedWorld;
  current: CurrentWorld;
  /** The projects of hostnames, including those that this plan attaches. */
  holders: Map<string, string>;
}

async function planProject(planned: PlannedProject, plan: Plan): Promise<void> {
  const { slug, entry, current } = planned;
  const row = current.projects.get(slug) ?? null;
  const path = ['projects', slug];
  const subject = { name: entry.name ?? row?.name ?? slug, plan: entry.plan ?? row?.plan ?? 'free' };
  const kept = factsOf(subject.plan).limits === null ? row?.limits : null;
  plan.attempt([...path, 'limits'], () => limitsForPlan(subject.plan, entry.limits ?? kept));
  const { name, plan: planName, limits, target, persona } = entry;
  const given = { name, plan: planName, limits, target, persona };
  if (row === null) {
    const fault = slugFault(slug);
    if (fault !== null) plan.refuse(path, fault);
    if (plan.mayState('project', slug, path, false)) {
      const input = {
        slug,
        ...subject,
        ...(limits && { limits }),
        ...(target && { target }),
        ...(persona && { persona }),
      };
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
    if (changed.length === 0) plan.keepAs('project', slug);
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
      plan.keepAs('key', what);
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
  if (isSame) return plan.keepAs('requests', slug);
  plan.add({
    changes: [{ kind: 'requests', what: slug, ...(before !== '' && { before }), after: text }],
    claims: plan.claim('requests', slug, { created: before === '', detail: null }),
    calls: [{ procedure: 'requests.save', input: { projectId: slug, text } }],
  });
}

/** Adds pets only to empty datasets: applying the file again must not add any, and existing pets are kept. */
function planPets({ slug, entry, file }: PlannedProject, row: Row, plan: Plan): void {
  for (const environment of environments.options) {
    const wanted = entry.pets?.[environment] ?? 0;
    const list = typeof wanted === 'number' ? [] : wanted;
    const count = typeof wanted === 'number' ? wanted : list.length;
    const path = ['projects', slug, 'pets', environment];
    const ids = list.flatMap((pet) => pet.id ?? []);
    if (new Set(ids).size < ids.length) plan.refuse(path, 'contains an id twice; remove one of the pets');
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

async function planDomains(
  planned: PlannedProject,
  row: Row,
  subject: Pick<CurrentProject, 'name' | 'plan'>,
  plan: Plan,
): Promise<void> {
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
    const facts = {
      project: { id: slug, slug, ...subject, persona: entry.persona ?? row?.persona ?? 'animal-store', deployed: true },
      holderOf,
    };
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
      plan.keepAs('domain', hostname);
    } else {
      const { rule, message, fix } = verdict.refusal;
      plan.refuse(path, `${message} ${rule === 'plan' ? `Write "plan: pro" in projects.${slug}.` : fix}`);
    }
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
    if (isSame) plan.keepAs('redirect', after.from);
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
  if (before === after) return plan.keepAs('primary', slug);
  plan.add({
    changes: [{ kind: 'primary', what: slug, before, after }],
    claims: plan.claim('primary', slug, { created: before === null, detail: null }),
    calls: [{ procedure: 'domains.setPrimary', input: { projectId: slug, hostname: after } }],
  });
}

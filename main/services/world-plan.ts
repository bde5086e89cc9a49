import { isDeepStrictEqual } from 'node:util';
import { createId } from '../base/secret.ts';
import { mapInTurns } from '../base/turns.ts';
import { type InputIssue, VivariumError } from '../contract/errors.ts';
import { formatPath } from '../contract/issues.ts';
import { environment as environments } from '../contract/values.ts';
import { isWildcard } from '../contract/wildcards.ts';
import type { ProjectEntry, World, WorldChange } from '../contract/world.ts';
import { evaluateAttach } from '../domains/attach-rules.ts';
import { evaluateHostname } from '../domains/hostname-rules.ts';
import { evaluateRedirects } from '../domains/redirects.ts';
import type { ProjectRow } from './dependencies.ts';
import { limitsForPlan, slugFault } from './project-rules.ts';
import type { WorldParts } from './world-export.ts';
import { newZoneName } from './zone-rules.ts';
import { examineZoneText } from './zones.ts';

const CALL = { signal: undefined };

/** Domains checked before yielding to other work: about a millisecond. */
const DOMAINS_PER_TURN = 250;

/** A key that a step has created; its secret is shown once. */
export interface CreatedKey {
  project: string;
  name: string;
  secret: string;
}

/** One change that makes the world as the file has it. */
export interface Step {
  /** Null for one that only prepares the next. */
  change: WorldChange | null;
  run(): CreatedKey[] | undefined | Promise<CreatedKey[] | undefined>;
}

export interface WorldPlan {
  steps: Step[];
  /** How many entries are as they should be. */
  left: number;
  /** What cannot be applied; the steps are then incomplete. */
  issues: InputIssue[];
}

/** Compares a file with what is there, and checks all of it. Changes nothing. */
export async function planWorld(file: World, parts: WorldParts): Promise<WorldPlan> {
  const plan = createPlan();
  await planSettings(file.settings ?? {}, parts, plan);
  await planZones(file.zones ?? {}, parts, plan);
  const claimed: Claims = new Map();
  for (const [slug, entry] of Object.entries(file.projects ?? {})) {
    await planProject({ slug, entry, claimed }, parts, plan);
  }
  return plan.result;
}

type Plan = ReturnType<typeof createPlan>;

function createPlan() {
  const result: WorldPlan = { steps: [], left: 0, issues: [] };
  return {
    result,
    keep: () => void result.left++,
    refuse: (path: readonly string[], message: string) => void result.issues.push({ path: formatPath(path), message }),
    /** A change whose result does not matter. */
    add(change: WorldChange | null, run: () => unknown) {
      result.steps.push({
        change,
        async run() {
          await run();
          return undefined;
        },
      });
    },
    addKey: (change: WorldChange, run: () => Promise<CreatedKey>) =>
      void result.steps.push({ change, run: async () => [await run()] }),
    /** The value of a check that throws; undefined after refusing it. */
    attempt<Value>(path: readonly string[], check: () => Value): Value | undefined {
      try {
        return check();
      } catch (error) {
        if (!(error instanceof VivariumError)) throw error;
        const [issue] = error.issues;
        result.issues.push({ path: formatPath(path), message: issue?.message ?? error.message });
        return undefined;
      }
    },
  };
}

async function planSettings(wanted: NonNullable<World['settings']>, { services }: WorldParts, plan: Plan) {
  const current: Record<string, unknown> = await services().settings.get(undefined, CALL);
  for (const [name, value] of Object.entries(wanted)) {
    const before = current[name];
    const after = name === 'caaIdentity' ? { ...(before as object), ...(value as object) } : value;
    if (isDeepStrictEqual(before, after)) plan.keep();
    else {
      plan.add({ kind: 'setting', what: name, before, after }, () =>
        services().settings.update({ [name]: value }, CALL),
      );
    }
  }
}

async function planZones(wanted: NonNullable<World['zones']>, parts: WorldParts, plan: Plan) {
  const { zones } = parts.services();
  const stored = await zones.list(undefined, CALL);
  for (const [given, entry] of Object.entries(wanted)) {
    const path = ['zones', given];
    const name = plan.attempt(path, () => newZoneName(given));
    if (name === undefined) continue;
    const found = stored.find((zone) => zone.name === name);
    const { text, supportsAlias } =
      typeof entry === 'string' ? { text: entry, supportsAlias: found?.supportsAlias ?? true } : entry;
    if (found !== undefined && found.supportsAlias !== supportsAlias) {
      plan.refuse(
        [...path, 'supportsAlias'],
        `is ${String(found.supportsAlias)} in the zone that exists; remove it first`,
      );
    }
    const zone = { apex: name, supportsAlias, nameServer: parts.nameServer };
    const { faults, missing } = await examineZoneText(text, zone, parts.rows.records);
    for (const { line, message } of faults) plan.refuse(path, `line ${line}: ${message}`);
    if (found === undefined)
      plan.add({ kind: 'zone', what: name, after: { supportsAlias } }, () =>
        zones.create({ name, supportsAlias }, CALL),
      );
    else plan.keep();
    if (missing > 0) {
      plan.add({ kind: 'records', what: name, after: missing }, () =>
        zones.import({ name, text, files: {}, force: true }, CALL),
      );
    }
  }
}

/** Hostnames that the file attaches, with their projects. */
type Claims = Map<string, { id: string; name: string }>;

interface PlannedProject {
  slug: string;
  entry: ProjectEntry;
  claimed: Claims;
}

/** A project as it will be; its id is made when its step runs, unless it exists. */
interface Subject {
  slug: string;
  row: ProjectRow | null;
  name: string;
  plan: ProjectRow['plan'];
  /** Unique also before the project exists. */
  planId: string;
  id(): string;
}

async function planProject({ slug, entry, claimed }: PlannedProject, parts: WorldParts, plan: Plan) {
  const { services, rows } = parts;
  const row = rows.projects.getBySlug(slug);
  let id = row?.id ?? '';
  const subject: Subject = {
    slug,
    row,
    name: entry.name ?? row?.name ?? slug,
    plan: entry.plan ?? row?.plan ?? 'free',
    planId: row?.id ?? `new ${slug}`,
    id: () => id,
  };
  const kept = subject.plan === 'enterprise' ? row?.limits : null;
  plan.attempt(['projects', slug, 'limits'], () => limitsForPlan(subject.plan, entry.limits ?? kept));
  const { name, plan: planName, limits, target } = entry;
  const given = { name, plan: planName, limits, target };
  if (row === null) {
    const fault = slugFault(slug);
    if (fault !== null) plan.refuse(['projects', slug], fault);
    const { name: newName, plan: newPlan } = subject;
    const input = { slug, name: newName, plan: newPlan, ...(limits && { limits }), ...(target && { target }) };
    plan.add({ kind: 'project', what: slug, after: input }, async () => {
      ({ id } = await services().projects.create(input, CALL));
    });
  } else {
    const changed = Object.entries(given).filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(value, row[field as keyof typeof given]),
    );
    const after = Object.fromEntries(changed);
    const before = Object.fromEntries(changed.map(([field]) => [field, row[field as keyof typeof given]]));
    if (changed.length === 0) plan.keep();
    else {
      plan.add({ kind: 'project', what: slug, before, after }, () =>
        services().projects.update({ projectId: id, ...after }, CALL),
      );
    }
  }
  await planKeys(subject, entry.keys ?? [], parts, plan);
  planPets(subject, entry.pets, parts, plan);
  await planRequests(subject, entry.requests, parts, plan);
  await planDomains(subject, entry, claimed, parts, plan);
}

async function planKeys({ slug, row, id }: Subject, wanted: readonly string[], { services }: WorldParts, plan: Plan) {
  const stored = row === null ? [] : await services().keys.list({ projectId: row.id }, CALL);
  const names = stored.flatMap(({ name, revokedAt }) => (revokedAt === undefined ? [name] : []));
  for (const name of wanted) {
    const found = names.indexOf(name);
    if (found >= 0) {
      names.splice(found, 1);
      plan.keep();
      continue;
    }
    plan.addKey({ kind: 'key', what: `${slug}/${name}`, after: name }, async () => {
      const { secret } = await services().keys.create({ projectId: id(), name }, CALL);
      return { project: slug, name, secret };
    });
  }
}

async function planRequests({ slug, row, id }: Subject, text: string | undefined, parts: WorldParts, plan: Plan) {
  if (text === undefined) return;
  const { requests } = parts.services();
  const before = row === null ? '' : (await requests.get({ projectId: row.id }, CALL)).saved;
  if (before === text) plan.keep();
  else {
    const change = { kind: 'requests', what: slug, ...(before !== '' && { before }), after: text } as const;
    plan.add(change, () => requests.save({ projectId: id(), text }, CALL));
  }
}

/** Only into datasets without pets: applying the file again must add none, and pets that are there are kept. */
function planPets({ slug, row, id }: Subject, wanted: ProjectEntry['pets'], parts: WorldParts, plan: Plan) {
  const { pets } = parts.services();
  const lists = typeof wanted === 'number' ? {} : wanted;
  for (const environment of environments.options) {
    const list = lists?.[environment] ?? [];
    const count = environment === 'production' && typeof wanted === 'number' ? wanted : list.length;
    if (count === 0) continue;
    const ids = list.flatMap((pet) => pet.id ?? []);
    if (new Set(ids).size < ids.length) {
      plan.refuse(['projects', slug, 'pets', environment], 'has an id twice; leave one of the pets out');
    }
    if (row !== null && parts.rows.pets.count({ projectId: row.id, environment }, null) > 0) {
      plan.keep();
      continue;
    }
    const input = { environment, format: 'json', text: JSON.stringify(list), more: false } as const;
    plan.add({ kind: 'pets', what: `${slug}/${environment}`, after: count }, () =>
      list.length > 0
        ? pets.import({ projectId: id(), ...input }, CALL)
        : pets.seed({ projectId: id(), environment, count, skip: 0 }, CALL),
    );
  }
}

async function planDomains(subject: Subject, entry: ProjectEntry, claimed: Claims, parts: WorldParts, plan: Plan) {
  const { slug, row, planId, name, id } = subject;
  const { domains } = parts.services();
  const names = new Map(parts.rows.projects.list().map((project) => [project.id, project.name]));
  const holderOf = (hostname: string) => {
    const stored = parts.domainOf(hostname);
    if (stored === null) return claimed.get(hostname) ?? null;
    return { id: stored.projectId, name: names.get(stored.projectId) ?? stored.projectId };
  };
  const attach: string[] = [];
  await mapInTurns(Object.keys(entry.domains ?? {}), DOMAINS_PER_TURN, (hostname) => {
    const facts = { project: { id: planId, name, slug, plan: subject.plan, deployed: true }, holderOf };
    const verdict = evaluateAttach(hostname, facts);
    if (verdict.ok) {
      attach.push(verdict.hostname);
      claimed.set(verdict.hostname, { id: planId, name });
    } else if (verdict.refusal.rule === 'same_project') plan.keep();
    else plan.refuse(['projects', slug, 'domains', hostname], `${verdict.refusal.message} ${verdict.refusal.fix}`);
  });
  const isDeployed = row !== null && parts.deploys.list(row.id).some(({ status }) => status === 'succeeded');
  if (attach.length > 0 && !isDeployed) {
    // What had domains was deployed; its upstream need not run now.
    const deploy = { status: 'succeeded', reason: null } as const;
    plan.add(null, () =>
      parts.deploys.insert({ id: createId('dep'), projectId: id(), createdAtMs: parts.now(), ...deploy }),
    );
  }
  for (const hostname of attach) {
    plan.add({ kind: 'domain', what: `${slug}/${hostname}`, after: hostname }, () =>
      domains.attach({ projectId: id(), hostname, local: false }, CALL),
    );
  }
  const isOwn = (hostname: string) => holderOf(hostname)?.id === planId;
  planRedirects(subject, entry, isOwn, parts, plan);
  planPrimary(subject, entry, isOwn, parts, plan);
}

type IsOwn = (hostname: string) => boolean;

function planRedirects(
  { slug, row, planId, id }: Subject,
  entry: ProjectEntry,
  isOwn: IsOwn,
  parts: WorldParts,
  plan: Plan,
) {
  const wanted = Object.entries(entry.domains ?? {}).flatMap(([given, { redirect, ...how }]) =>
    redirect === undefined ? [] : [{ from: normalForm(given), to: redirect, ...how }],
  );
  if (wanted.length === 0) return;
  const before = row?.redirects ?? [];
  const kept = before.filter(({ from }) => wanted.every((redirect) => redirect.from !== from));
  const others = parts.rows.projects.list().flatMap(({ id: other, redirects }) => (other === row?.id ? [] : redirects));
  const verdict = evaluateRedirects([...kept, ...wanted], {
    projectId: planId,
    holderOf: (hostname) => (isOwn(hostname) ? { projectId: planId } : null),
    others,
  });
  if (!verdict.ok) {
    for (const { message } of verdict.issues) plan.refuse(['projects', slug, 'domains'], message);
    return;
  }
  const after = verdict.redirects;
  const isSame =
    before.length === after.length && after.every((one) => before.some((old) => isDeepStrictEqual(old, one)));
  if (isSame) plan.keep();
  else {
    plan.add({ kind: 'redirects', what: slug, before, after }, () =>
      parts.services().domains.setRedirects({ projectId: id(), redirects: after }, CALL),
    );
  }
}

function planPrimary(
  { slug, row, id }: Subject,
  { primary }: ProjectEntry,
  isOwn: IsOwn,
  parts: WorldParts,
  plan: Plan,
) {
  if (primary === undefined) return;
  const after = primary === null ? null : normalForm(primary);
  if (after !== null && (isWildcard(after) || !isOwn(after))) {
    plan.refuse(
      ['projects', slug, 'primary'],
      'must be one of the domains, no wildcard, or null for the platform’s own',
    );
  }
  const before = row?.primary ?? null;
  if (before === after) plan.keep();
  else {
    plan.add({ kind: 'primary', what: slug, before, after }, () =>
      parts.services().domains.setPrimary({ projectId: id(), hostname: after }, CALL),
    );
  }
}

function normalForm(text: string): string {
  const verdict = evaluateHostname(text);
  return verdict.ok ? verdict.hostname : text;
}

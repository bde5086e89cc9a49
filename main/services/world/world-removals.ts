import { isDeepStrictEqual } from 'node:util';
import type { WorldKind } from '../../contract/world.ts';
import { HTTPS_PREFIX } from '../../domains/redirects.ts';
import type { OwnedRow } from '../dependencies.ts';
import { type CurrentProject, type CurrentWorld, isOfZone, recordKey } from './world-current.ts';
import type { Entry, Plan } from './world-steps.ts';

/** The entries of a file by kind and name; for domains, with the project. */
export interface Stated {
  has(entry: Entry): boolean;
  projectOf(hostname: string): string | undefined;
}

/**
 * Plans the removal of entries that the file owns but no longer contains, and returns the world without them. Foreign
 * entries are kept, with their project or zone; entries that existed before the file are released and kept.
 */
export function planRemovals(stated: Stated, current: CurrentWorld, plan: Plan): CurrentWorld {
  const unsaid = plan.rows.filter((row) => !stated.has(row) || isElsewhere(row, stated, current));
  const gone = unsaid.filter((row) => isThere(row, current));
  // Claimed by a killed engine, but never created.
  if (gone.length < unsaid.length) plan.add({ releases: unsaid.filter((row) => !gone.includes(row)) });
  const of = (kind: WorldKind) => gone.filter((row) => row.kind === kind);
  const release = (row: OwnedRow) => plan.add({ releases: [row] });

  const projects = new Map(current.projects);
  const domains = new Map(current.domains);
  const zones = new Map(current.zones);
  const change = (slug: string, fields: Partial<CurrentProject>) => {
    const project = projects.get(slug);
    if (project !== undefined) projects.set(slug, { ...project, ...fields });
  };

  const removed = new Set<string>();
  for (const row of of('project')) {
    const { what: slug } = row;
    const project = projects.get(slug);
    if (project === undefined) continue;
    if (!row.created) {
      release(row);
      continue;
    }
    const inside = [...domains].flatMap(([hostname, holder]) => (holder === slug ? [hostname] : []));
    const foreign = [
      ...inside.filter((hostname) => !plan.owns('domain', hostname)).map((hostname) => `the domain ${hostname}`),
      ...project.keys.filter(({ name }) => !plan.owns('key', `${slug}/${name}`)).map(({ name }) => `the key "${name}"`),
    ];
    if (foreign.length > 0) {
      plan.result.kept.push(
        `Project ${slug}: ${listed(foreign)} in it ${foreign.length === 1 ? 'is' : 'are'} not the file’s.`,
      );
      continue;
    }
    const before = {
      domains: inside.length,
      keys: project.keys.length,
      pets: project.pets.production + project.pets.staging,
    };
    plan.add({
      changes: [{ kind: 'project', what: slug, before }],
      calls: [{ procedure: 'projects.remove', input: { projectId: slug } }],
      releases: gone.filter(
        ({ kind, what }) => isOfProject(kind, what, slug) || (isOfDomain(kind) && inside.includes(what)),
      ),
    });
    removed.add(slug);
    projects.delete(slug);
    for (const hostname of inside) domains.delete(hostname);
  }

  for (const row of of('primary')) {
    const project = projects.get(row.what);
    if (project === undefined) continue;
    if (project.primary === null || !row.created) release(row);
    else {
      plan.add({
        changes: [{ kind: 'primary', what: row.what, before: project.primary }],
        calls: [{ procedure: 'domains.setPrimary', input: { projectId: row.what, hostname: null } }],
        releases: [row],
      });
      change(row.what, { primary: null });
    }
  }

  for (const row of of('redirect')) {
    const slug = domains.get(row.what) ?? '';
    const project = projects.get(slug);
    const redirect = project?.redirects.find(({ from }) => from === row.what);
    if (project === undefined || redirect === undefined || !row.created) {
      if (project !== undefined) release(row);
      continue;
    }
    const redirects = project.redirects.filter((one) => one !== redirect);
    plan.add({
      changes: [{ kind: 'redirect', what: `${slug}/${row.what}`, before: redirect }],
      calls: [{ procedure: 'domains.setRedirects', input: { projectId: slug, redirects } }],
      releases: [row],
    });
    change(slug, { redirects });
  }

  for (const row of of('domain')) {
    const slug = domains.get(row.what);
    if (slug === undefined) continue;
    if (!row.created) {
      release(row);
      continue;
    }
    plan.add({
      changes: [{ kind: 'domain', what: `${slug}/${row.what}`, before: row.what }],
      calls: [{ procedure: 'domains.remove', input: { hostname: row.what } }],
      releases: [row],
    });
    domains.delete(row.what);
    const project = projects.get(slug);
    if (project === undefined) continue;
    change(slug, {
      primary: project.primary === row.what ? null : project.primary,
      redirects: project.redirects.filter(
        ({ from, to }) => from !== row.what && to.replace(HTTPS_PREFIX, '') !== row.what,
      ),
    });
  }

  for (const row of of('key')) {
    const cut = row.what.indexOf('/');
    const [slug, name] = [row.what.slice(0, cut), row.what.slice(cut + 1)];
    const project = projects.get(slug);
    if (project === undefined) continue;
    const keys = row.created ? project.keys.filter((key) => key.name === name) : [];
    plan.add({
      changes: keys.map(() => ({ kind: 'key', what: row.what, before: name }) as const),
      calls: keys.map(({ id }) => ({ procedure: 'keys.revoke', input: { keyId: id } }) as const),
      releases: [row],
    });
    change(slug, { keys: project.keys.filter((key) => !keys.includes(key)) });
  }

  for (const row of [...of('pets'), ...of('requests')]) {
    if (projects.has(row.what.split('/')[0] ?? '')) release(row);
  }

  for (const row of of('zone')) {
    const zone = zones.get(row.what);
    if (zone === undefined) continue;
    if (!row.created) {
      release(row);
      continue;
    }
    const own = new Set(ownRecords(plan, row.what));
    const foreign = zone.records.filter((record) => !own.has(recordKey(record))).length;
    if (foreign > 0) {
      plan.result.kept.push(
        `Zone ${row.what}: ${foreign} ${foreign === 1 ? 'record in it is' : 'records in it are'} not the file’s.`,
      );
      continue;
    }
    plan.add({
      changes: [{ kind: 'zone', what: row.what, before: { records: zone.records.length } }],
      calls: [{ procedure: 'zones.remove', input: { name: row.what } }],
      releases: gone.filter(({ kind, what }) => isOfZone(kind) && what === row.what),
    });
    zones.delete(row.what);
  }

  for (const row of of('records')) {
    const zone = zones.get(row.what);
    if (zone === undefined) continue;
    const own = new Set(ownRecords(plan, row.what));
    const records = zone.records.filter((record) => own.has(recordKey(record)));
    plan.add({
      changes: records.length === 0 ? [] : [{ kind: 'records', what: row.what, before: records.length }],
      calls: records.map(({ id }) => ({ procedure: 'records.remove', input: { id } }) as const),
      releases: [row],
    });
    zones.set(row.what, { ...zone, records: zone.records.filter((record) => !records.includes(record)) });
  }

  for (const row of of('signing')) {
    const zone = zones.get(row.what);
    if (zone === undefined) continue;
    const signed = row.detail === true;
    if (zone.signed === signed) {
      release(row);
      continue;
    }
    plan.add({
      changes: [{ kind: 'signing', what: row.what, before: zone.signed, after: signed }],
      calls: [{ procedure: 'zones.dnssec', input: { name: row.what, signed, roll: false } }],
      releases: [row],
    });
    zones.set(row.what, { ...zone, signed });
  }

  const settings = { ...current.settings };
  for (const row of of('setting')) {
    if (isDeepStrictEqual(settings[row.what], row.detail)) {
      release(row);
      continue;
    }
    plan.add({
      changes: [{ kind: 'setting', what: row.what, before: settings[row.what], after: row.detail }],
      calls: [{ procedure: 'settings.update', input: { [row.what]: row.detail } }],
      releases: [row],
    });
    settings[row.what] = row.detail;
  }
  for (const row of of('clock')) {
    plan.add({
      changes: [{ kind: 'clock', what: 'clock', before: current.clock.now }],
      calls: [{ procedure: 'clock.reset', input: undefined }],
      releases: [row],
    });
  }
  return { ...current, settings, projects, domains, zones };
}

/** The keys of the records that the file put into a zone. */
export const ownRecords = (plan: Plan, zone: string): string[] =>
  (plan.detailOf('records', zone) as string[] | undefined) ?? [];

function isThere({ kind, what }: OwnedRow, { domains, zones, projects }: CurrentWorld): boolean {
  if (isOfDomain(kind)) return domains.has(what);
  if (isOfZone(kind)) return zones.has(what);
  return !OF_PROJECT.has(kind) || projects.has(what.split('/')[0] ?? '');
}

/** Whether the file has a domain in another project than its current one. */
function isElsewhere({ kind, what }: OwnedRow, stated: Stated, current: CurrentWorld): boolean {
  if (!isOfDomain(kind)) return false;
  const now = current.domains.get(what);
  return now !== undefined && stated.projectOf(what) !== now;
}

const isOfDomain = (kind: string): boolean => kind === 'domain' || kind === 'redirect';

const isOfProject = (kind: string, what: string, slug: string): boolean =>
  OF_PROJECT.has(kind) && (what === slug || what.startsWith(`${slug}/`));

const OF_PROJECT: ReadonlySet<string> = new Set<WorldKind>(['project', 'primary', 'requests', 'key', 'pets']);

const LISTED_MAX = 5;

const listed = (texts: readonly string[]): string =>
  texts.slice(0, LISTED_MAX).join(', ') + (texts.length > LISTED_MAX ? ` and ${texts.length - LISTED_MAX} more` : '');

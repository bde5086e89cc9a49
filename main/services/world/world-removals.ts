import { isDeepStrictEqual } from 'node:util';
import type { WorldKind } from '../../contract/world.ts';
import { HTTPS_PREFIX } from '../../domains/redirects.ts';
import type { OwnedRow } from '../dependencies.ts';
import { type CurrentProject, type CurrentWorld, type CurrentZone, isOfZone, recordKey } from './world-current.ts';
import type { Entry, Plan, Step } from './world-steps.ts';

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
  const unstated = plan.rows.filter((row) => !stated.has(row) || isElsewhere(row, stated, current));
  const gone = unstated.filter((row) => isThere(row, current));
  // Claimed by a killed engine, but never created.
  if (gone.length < unstated.length) plan.add({ releases: unstated.filter((row) => !gone.includes(row)) });
  const world: Remaining = {
    ...current,
    settings: { ...current.settings },
    projects: new Map(current.projects),
    domains: new Map(current.domains),
    zones: new Map(current.zones),
  };
  for (const [kind, remove] of REMOVALS) {
    for (const row of gone.filter((each) => each.kind === kind)) {
      // The store removes what a project or zone contains, and their claims.
      const step = isThere(row, world) ? remove(row, world, plan) : KEPT;
      if (step !== KEPT) plan.add({ releases: [row], ...step });
    }
  }
  return world;
}

/** The world as it is after the removals planned so far. */
interface Remaining extends CurrentWorld {
  settings: Record<string, unknown>;
  projects: Map<string, CurrentProject>;
  domains: Map<string, string>;
  zones: Map<string, CurrentZone>;
}

const KEPT = null;

/** Changes the world, and returns the step: an empty one releases the entry only, `KEPT` leaves it to the file. */
type Removal = (row: OwnedRow, world: Remaining, plan: Plan) => Partial<Step> | typeof KEPT;

function change({ projects }: Remaining, slug: string, fields: Partial<CurrentProject>): void {
  const project = projects.get(slug);
  if (project !== undefined) projects.set(slug, { ...project, ...fields });
}

const removeProject: Removal = ({ what: slug, created }, world, plan) => {
  const project = world.projects.get(slug);
  if (project === undefined || !created) return {};
  const inside = [...world.domains].flatMap(([hostname, holder]) => (holder === slug ? [hostname] : []));
  const foreign = [
    ...inside.filter((hostname) => !plan.owns('domain', hostname)).map((hostname) => `the domain ${hostname}`),
    ...project.keys.filter(({ name }) => !plan.owns('key', `${slug}/${name}`)).map(({ name }) => `the key "${name}"`),
  ];
  if (foreign.length > 0) {
    const are = foreign.length === 1 ? 'is' : 'are';
    plan.result.remaining.push(`Project ${slug}: ${listed(foreign)} in it ${are} not the file’s.`);
    return KEPT;
  }
  world.projects.delete(slug);
  for (const hostname of inside) world.domains.delete(hostname);
  const pets = project.pets.production + project.pets.staging;
  return {
    changes: [{ kind: 'project', what: slug, before: { domains: inside.length, keys: project.keys.length, pets } }],
    calls: [{ procedure: 'projects.remove', input: { projectId: slug } }],
  };
};

const removePrimary: Removal = ({ what: slug, created }, world) => {
  const before = world.projects.get(slug)?.primary ?? null;
  if (before === null || !created) return {};
  change(world, slug, { primary: null });
  return {
    changes: [{ kind: 'primary', what: slug, before }],
    calls: [{ procedure: 'domains.setPrimary', input: { projectId: slug, hostname: null } }],
  };
};

const removeRedirect: Removal = ({ what, created }, world) => {
  const slug = world.domains.get(what) ?? '';
  const before = world.projects.get(slug)?.redirects ?? [];
  const redirect = before.find(({ from }) => from === what);
  if (redirect === undefined || !created) return {};
  const redirects = before.filter((one) => one !== redirect);
  change(world, slug, { redirects });
  return {
    changes: [{ kind: 'redirect', what: `${slug}/${what}`, before: redirect }],
    calls: [{ procedure: 'domains.setRedirects', input: { projectId: slug, redirects } }],
  };
};

const removeDomain: Removal = ({ what: hostname, created }, world) => {
  const slug = world.domains.get(hostname);
  if (slug === undefined || !created) return {};
  world.domains.delete(hostname);
  const { primary = null, redirects = [] } = world.projects.get(slug) ?? {};
  change(world, slug, {
    primary: primary === hostname ? null : primary,
    redirects: redirects.filter(({ from, to }) => from !== hostname && to.replace(HTTPS_PREFIX, '') !== hostname),
  });
  return {
    changes: [{ kind: 'domain', what: `${slug}/${hostname}`, before: hostname }],
    calls: [{ procedure: 'domains.remove', input: { hostname } }],
  };
};

const removeKeys: Removal = ({ what, created }, world) => {
  const cut = what.indexOf('/');
  const [slug, name] = [what.slice(0, cut), what.slice(cut + 1)];
  const present = world.projects.get(slug)?.keys ?? [];
  const keys = created ? present.filter((key) => key.name === name) : [];
  change(world, slug, { keys: present.filter((key) => !keys.includes(key)) });
  return {
    changes: keys.map(() => ({ kind: 'key', what, before: name })),
    calls: keys.map(({ id }) => ({ procedure: 'keys.revoke', input: { keyId: id } })),
  };
};

const removeZone: Removal = ({ what: name, created }, { zones }, plan) => {
  const zone = zones.get(name);
  if (zone === undefined || !created) return {};
  const own = new Set(ownRecords(plan, name));
  const foreign = zone.records.filter((record) => !own.has(recordKey(record))).length;
  if (foreign > 0) {
    const records = foreign === 1 ? 'record in it is' : 'records in it are';
    plan.result.remaining.push(`Zone ${name}: ${foreign} ${records} not the file’s.`);
    return KEPT;
  }
  zones.delete(name);
  return {
    changes: [{ kind: 'zone', what: name, before: { records: zone.records.length } }],
    calls: [{ procedure: 'zones.remove', input: { name } }],
  };
};

const removeRecords: Removal = ({ what }, { zones }, plan) => {
  const zone = zones.get(what);
  if (zone === undefined) return {};
  const own = new Set(ownRecords(plan, what));
  const records = zone.records.filter((record) => own.has(recordKey(record)));
  zones.set(what, { ...zone, records: zone.records.filter((record) => !records.includes(record)) });
  return {
    changes: records.length === 0 ? [] : [{ kind: 'records', what, before: records.length }],
    calls: records.map(({ id }) => ({ procedure: 'records.remove', input: { id } })),
  };
};

const restoreSigning: Removal = ({ what: name, detail }, { zones }) => {
  const zone = zones.get(name);
  const signed = detail === true;
  if (zone === undefined || zone.signed === signed) return {};
  zones.set(name, { ...zone, signed });
  return {
    changes: [{ kind: 'signing', what: name, before: zone.signed, after: signed }],
    calls: [{ procedure: 'zones.dnssec', input: { name, signed, roll: false } }],
  };
};

const restoreSetting: Removal = ({ what, detail: after }, { settings }) => {
  const before = settings[what];
  if (isDeepStrictEqual(before, after)) return {};
  settings[what] = after;
  return {
    changes: [{ kind: 'setting', what, before, after }],
    calls: [{ procedure: 'settings.update', input: { [what]: after } }],
  };
};

/** In the order of the steps: what contains others comes first. */
const REMOVALS: readonly (readonly [WorldKind, Removal])[] = [
  ['project', removeProject],
  ['primary', removePrimary],
  ['redirect', removeRedirect],
  ['domain', removeDomain],
  ['key', removeKeys],
  ['pets', () => ({})],
  ['requests', () => ({})],
  ['zone', removeZone],
  ['records', removeRecords],
  ['signing', restoreSigning],
  ['setting', restoreSetting],
  [
    'clock',
    (_row, { clock }) => ({
      changes: [{ kind: 'clock', what: 'clock', before: clock.now }],
      calls: [{ procedure: 'clock.reset', input: undefined }],
    }),
  ],
];

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

const OF_PROJECT: ReadonlySet<string> = new Set<WorldKind>(['project', 'primary', 'requests', 'key', 'pets']);

const LISTED_MAX = 5;

const listed = (texts: readonly string[]): string =>
  texts.slice(0, LISTED_MAX).join(', ') + (texts.length > LISTED_MAX ? ` and ${texts.length - LISTED_MAX} more` : '');

import type { ProjectEntry, World } from '../contract/world.ts';
import { WORLD_PETS_MAX, WORLD_VERSION } from '../contract/world.ts';
import type { Project } from '../contract/projects.ts';
import type { Services } from '../contract/index.ts';
import { type Environment, environment as environments } from '../contract/values.ts';
import type { AttachedDomain } from '../domains/domain-set.ts';
import { writeZoneFile } from '../dns/zone-file.ts';
import { createZone } from '../dns/zone.ts';
import type { DeployRows, PetRows, ProjectRows, RecordRows } from './dependencies.ts';

/** What the world is made of: the services that change it, and the rows that its checks read. */
export interface WorldParts {
  services: () => Pick<Services, 'projects' | 'keys' | 'pets' | 'domains' | 'zones' | 'settings' | 'requests'>;
  deploys: DeployRows;
  rows: {
    projects: Pick<ProjectRows, 'list' | 'getBySlug'>;
    records: Pick<RecordRows, 'parts' | 'typesAt'>;
    pets: Pick<PetRows, 'count'>;
  };
  /** Expects a hostname in normal form. */
  domainOf(hostname: string): AttachedDomain | null;
  /** The DNS server's own name. */
  nameServer: string;
  now: () => number;
}

const CALL = { signal: undefined };
const PAGE = 500;

/** A zone text without the SOA and NS that every zone gets; the serial of its own SOA would change with every record. */
function withoutGenerated(text: string, apex: string, nameServer: string): string {
  const withoutSerial = (line: string): string => line.replace(/^(@ \d+ IN SOA \S+ \S+) \d+/, '$1 0');
  const generated = new Set(
    writeZoneFile(createZone({ apex, nameServer })).split('\n').slice(1, -1).map(withoutSerial),
  );
  const lines = text.split('\n').map(withoutSerial);
  return lines.filter((line) => !generated.has(line)).join('\n');
}

/** The world in the form of a file, and what the file does not have, in sentences. */
export async function exportWorld({
  services,
  rows,
  nameServer,
}: WorldParts): Promise<{ world: World; omitted: string[] }> {
  const { projects, settings, zones } = services();
  const { caKey: _place, ...shown } = await settings.get(undefined, CALL);
  const omitted: string[] = [];
  const entries: [string, ProjectEntry][] = [];
  for (const project of [...(await projects.list(undefined, CALL))].reverse()) {
    entries.push([project.slug, await entryOf(project)]);
  }
  const zoneEntries: [string, NonNullable<World['zones']>[string]][] = [];
  for (const { name, supportsAlias } of await zones.list(undefined, CALL)) {
    const text = withoutGenerated((await zones.export({ name }, CALL)).text, name, nameServer);
    zoneEntries.push([name, supportsAlias ? text : { supportsAlias, text }]);
  }
  const world = {
    vivarium: WORLD_VERSION,
    settings: shown,
    projects: Object.fromEntries(entries),
    zones: Object.fromEntries(zoneEntries),
  } as const;
  return { world, omitted };

  async function entryOf(project: Project): Promise<ProjectEntry> {
    const { id: projectId, slug, name, plan, limits, target, primary, redirects } = project;
    const keys = await services().keys.list({ projectId }, CALL);
    const { saved } = await services().requests.get({ projectId }, CALL);
    const domains = await services().domains.list({ projectId }, CALL);
    const pets: Partial<Record<Environment, Awaited<ReturnType<typeof petsOf>>>> = {};
    for (const environment of environments.options) {
      const count = rows.pets.count({ projectId, environment }, null);
      if (count > WORLD_PETS_MAX) {
        const most = WORLD_PETS_MAX.toLocaleString('en');
        omitted.push(`${count.toLocaleString('en')} pets of ${slug}, ${environment}: more than ${most}.`);
      } else if (count > 0) pets[environment] = await petsOf(projectId, environment);
    }
    return {
      name,
      plan,
      ...(plan === 'enterprise' && { limits }),
      ...(target.kind !== 'api' && { target }),
      ...(Object.keys(pets).length > 0 && { pets }),
      keys: keys
        .filter(({ revokedAt }) => revokedAt === undefined)
        .map((key) => key.name)
        .reverse(),
      domains: Object.fromEntries(
        domains.map(({ hostname }) => {
          const redirect = redirects.find(({ from }) => from === hostname);
          if (redirect === undefined) return [hostname, {}];
          const { from: _, to, ...how } = redirect;
          return [hostname, { redirect: to, ...how }];
        }),
      ),
      ...(primary !== null && { primary }),
      ...(saved !== '' && { requests: saved }),
    };
  }

  async function petsOf(projectId: string, environment: Environment) {
    const found = [];
    let after: string | undefined;
    do {
      const input = { projectId, environment, sort: 'id', descending: false, before: 0, limit: PAGE } as const;
      const page = await services().pets.list({ ...input, ...(after !== undefined && { after }) }, CALL);
      found.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return found;
  }
}

import { mapInTurns } from '../../base/turns.ts';
import { CATALOGUE, pointOf } from '../../breaks/catalogue/index.ts';
import { CALL } from '../../contract/calls.ts';
import { DRILL_ENTRY } from '../../contract/breaks.ts';
import { DRILL_SLUG, DRILL_ZONE } from '../../drills/drill.ts';
import { WORLD_PETS_MAX, WORLD_VERSION, type WorldInput } from '../../contract/world.ts';
import { factsOf } from '../../contract/plans.ts';
import type { Project, TargetSetting } from '../../contract/projects.ts';
import { ALL_FIELDS, eachField, type PetValues } from '../../contract/pet-fields.ts';
import type { PetRecord } from '../../contract/pets.ts';
import { type Environment, environment as environments } from '../../contract/values.ts';
import { writeZoneFile } from '../../dns/zones/zone-file.ts';
import { createZone } from '../../dns/zones/zone.ts';
import type { WorldParts } from './world-current.ts';

type ProjectEntry = NonNullable<NonNullable<WorldInput['projects']>[string]>;

const PAGE = 500;

/** Lines of a zone compared before yielding to other work: about a millisecond. */
const LINES_PER_TURN = 5_000;

/**
 * A zone text without the SOA and NS that every zone gets; the serial of its own SOA would change with every record.
 */
async function withoutGenerated(text: string, apex: string, nameServer: string): Promise<string> {
  const withoutSerial = (line: string): string => line.replace(/^(@ \d+ IN SOA \S+ \S+) \d+/, '$1 0');
  const generated = new Set(
    writeZoneFile(createZone({ apex, nameServer })).split('\n').slice(1, -1).map(withoutSerial),
  );
  const lines = await mapInTurns(text.split('\n'), LINES_PER_TURN, withoutSerial);
  return lines.filter((line) => !generated.has(line)).join('\n');
}

function editsState(id: string): boolean {
  const entry = CATALOGUE.find((each) => each.id === id);
  return entry !== undefined && pointOf(entry) === 'state';
}

/** The world in the form of a file, and sentences about what the file omits. */
export async function exportWorld({
  services,
  rows,
  nameServer,
}: WorldParts): Promise<{ world: WorldInput; omitted: string[] }> {
  const { projects, settings, zones, clock, breaks } = services();
  const { caKey: _place, ...shown } = await settings.get(undefined, CALL);
  const omitted: string[] = [];
  const entries: [string, ProjectEntry][] = [];
  const broken = await breaks.list(undefined, CALL);
  const isDrilled = broken.some(({ entry }) => entry === DRILL_ENTRY);
  if (isDrilled) omitted.push('The project and the zone of the running drill.');
  for (const project of [...(await projects.list(undefined, CALL))].reverse()) {
    if (isDrilled && project.slug === DRILL_SLUG) continue;
    entries.push([project.slug, await entryOf(project)]);
  }
  const zoneEntries: [string, NonNullable<WorldInput['zones']>[string]][] = [];
  for (const { name, supportsAlias, signed } of await zones.list(undefined, CALL)) {
    if (isDrilled && name === DRILL_ZONE) continue;
    const text = await withoutGenerated((await zones.export({ name }, CALL)).text, name, nameServer);
    const how = { ...(!supportsAlias && { supportsAlias }), ...(signed === true && { signed }) };
    zoneEntries.push([name, Object.keys(how).length === 0 ? text : { ...how, text }]);
  }
  const { frozen, now, offset } = await clock.get(undefined, CALL);
  if (!frozen && offset !== 'PT0S')
    omitted.push('The clock, which has been moved and is running: a file can only contain a frozen clock.');
  const edited = [...broken].filter(({ entry }) => editsState(entry));
  if (edited.length > 0) {
    const names = edited.map(({ entry, on }) => `${entry} ${on.hostname ?? ''}`.trim()).join(', ');
    omitted.push(`The state before the running breaks (${names}). Repair them first: \`breaks.stopAll\`.`);
  }
  const world: WorldInput = {
    vivarium: WORLD_VERSION,
    ...(frozen && { clock: { at: String(now) } }),
    settings: shown as WorldInput['settings'],
    projects: Object.fromEntries(entries),
    zones: Object.fromEntries(zoneEntries),
  };
  return { world, omitted };

  async function entryOf(project: Project): Promise<ProjectEntry> {
    const { id: projectId, slug, name, plan, limits, target, primary, redirects, persona } = project;
    const keys = await services().keys.list({ projectId }, CALL);
    const { saved } = await services().requests.get({ projectId }, CALL);
    const attached = await services().domains.list({ projectId }, CALL);
    const domains = factsOf(plan).domains ? attached : [];
    if (domains.length < attached.length) {
      omitted.push(`The domains of ${slug}, whose plan has none: ${attached.length.toLocaleString('en')}.`);
    }
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
      ...(factsOf(plan).limits === null && { limits }),
      ...(target.kind !== 'api' && { target: shortTarget(target) }),
      ...(persona !== 'animal-store' && { persona }),
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
      ...(primary !== null && domains.length > 0 && { primary }),
      ...(saved !== '' && { requests: saved }),
    };
  }

  async function petsOf(projectId: string, environment: Environment) {
    const found: PetValues<string | number>[] = [];
    let after: string | undefined;
    do {
      const input = { projectId, environment, sort: 'id', descending: false, before: 0, limit: PAGE } as const;
      const page = await services().pets.list({ ...input, ...(after !== undefined && { after }) }, CALL);
      for (const pet of page.items as PetRecord[]) {
        const short = eachField(ALL_FIELDS, (field, { kind }) =>
          kind === 'int64' ? shortNumber(pet[field]) : pet[field],
        );
        found.push(short as PetValues<string | number>);
      }
      after = page.next;
    } while (after !== undefined);
    return found;
  }
}

/** As a number if JSON represents it exactly. */
const shortNumber = (text: string): string | number => (Number.isSafeInteger(Number(text)) ? Number(text) : text);

/** Only the URL, if the target has no other settings. */
const shortTarget = (target: TargetSetting): TargetSetting | string =>
  target.kind === 'upstream' && Object.keys(target).length === 2 ? target.url : target;

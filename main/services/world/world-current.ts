import { orElse } from '../../contract/errors.ts';
import { nextTurn } from '../../base/turns.ts';
import { CALL } from '../../contract/calls.ts';
import type { CallContext, Services } from '../../contract/index.ts';
import type { Project } from '../../contract/projects.ts';
import { type Environment, environment as environments } from '../../contract/values.ts';
import type { ResolvedWorld } from '../../contract/world.ts';
import type { AttachedDomain } from '../../domains/domain-set.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import type { RecordData } from '../../dns/wire/record.ts';
import { formatValue } from '../../dns/wire/record-text.ts';
import { withoutSerial } from '../../dns/zones/zone.ts';
import type { DeployRows, OwnedRow, OwnedRows, PetRows, ProjectRow, ProjectRows, RecordRows } from '../dependencies.ts';
import { readData } from '../zones/records.ts';
import { newZoneName } from '../zones/zone-rules.ts';

/** The parts of the world: the services that change it, and the rows that its checks read. */
export interface WorldParts {
  services: () => Services;
  /** Refuses a call that would change what a run holds, without making it. @throws VivariumError conflict */
  check: (procedure: string, input: unknown, context: CallContext) => Promise<void>;
  /** Replaces slugs with ids, as the transports do before they call a service. */
  resolve: (input: unknown) => unknown;
  deploys: DeployRows;
  owned: OwnedRows;
  rows: {
    projects: Pick<ProjectRows, 'list' | 'getBySlug'>;
    records: Pick<RecordRows, 'parts'>;
    pets: Pick<PetRows, 'count'>;
  };
  domains: () => readonly Pick<AttachedDomain, 'hostname' | 'projectId' | 'state'>[];
  /** The DNS server's own name. */
  nameServer: string;
  now: () => number;
  realNow: () => number;
  /** Announces that files now own other entries. */
  ownersChanged: () => void;
}

export interface CurrentProject extends Pick<
  ProjectRow,
  'id' | 'name' | 'plan' | 'limits' | 'target' | 'primary' | 'redirects' | 'persona'
> {
  /** Whether one of its deploys has succeeded. */
  deployed: boolean;
  /** The keys that are not revoked, newest first. */
  keys: readonly { id: string; name: string }[];
  pets: Record<Environment, number>;
  requests: string;
}

export interface CurrentRecord {
  id: string;
  /** Absolute. */
  name: string;
  ttlSeconds: number;
  data: RecordData;
}

export interface CurrentZone {
  supportsAlias: boolean;
  signed: boolean;
  records: readonly CurrentRecord[];
}

/** The initial state of a plan. */
export interface CurrentWorld {
  clock: { frozen: boolean; now: string };
  settings: Readonly<Record<string, unknown>>;
  /** By slug. */
  projects: ReadonlyMap<string, CurrentProject>;
  /** The slug of its project by hostname. */
  domains: ReadonlyMap<string, string>;
  /** The zones by name, with the records of those that the plan affects. */
  zones: ReadonlyMap<string, CurrentZone>;
  nameServer: string;
}

/** An empty state, for checking a file by itself. */
export const emptyWorld = (settings: CurrentWorld['settings'], nameServer: string): CurrentWorld => ({
  clock: { frozen: false, now: new Date(0).toISOString() },
  settings,
  projects: new Map(),
  domains: new Map(),
  zones: new Map(),
  nameServer,
});

const RECORDS_PER_TURN = 500;

/** Whether entries of a kind are in a zone, or the zone itself. */
export const isOfZone = (kind: string): boolean => kind === 'zone' || kind === 'records' || kind === 'signing';

/** Identifies a record by its content; an SOA's serial does not count. */
export const recordKey = ({ name, data }: Pick<CurrentRecord, 'name' | 'data'>): string =>
  JSON.stringify([name, data.type, formatValue(withoutSerial(data))]);

/** Reads the state that the plan for a file needs. */
export async function readCurrentWorld(
  file: ResolvedWorld,
  owned: readonly OwnedRow[],
  parts: WorldParts,
): Promise<CurrentWorld> {
  const { settings, clock, zones } = parts.services();
  const rows = parts.rows.projects.list();
  const projects = new Map<string, CurrentProject>();
  for (const row of rows) {
    projects.set(row.slug, await currentProject(row, parts));
    await nextTurn();
  }
  const slugs = new Map(rows.map(({ id, slug }) => [id, slug]));
  const concerned = new Set([
    ...Object.keys(file.zones ?? {}).map(normalZone),
    ...owned.flatMap(({ kind, what }) => (isOfZone(kind) ? what : [])),
  ]);
  const foundZones = new Map<string, CurrentZone>();
  for (const { name, supportsAlias, signed = false } of await zones.list(undefined, CALL)) {
    const records = concerned.has(name) ? await currentRecords(name, parts) : [];
    foundZones.set(name, { supportsAlias, signed, records });
  }
  const { frozen, now } = await clock.get(undefined, CALL);
  return {
    clock: { frozen, now: String(now) },
    settings: (await settings.get(undefined, CALL)) as Record<string, unknown>,
    projects,
    domains: new Map(parts.domains().map(({ hostname, projectId }) => [hostname, slugs.get(projectId) ?? ''])),
    zones: foundZones,
    nameServer: parts.nameServer,
  };
}

async function currentProject(row: ProjectRow, parts: WorldParts): Promise<CurrentProject> {
  const { id: projectId } = row;
  const { keys, requests } = parts.services();
  const stored = await keys.list({ projectId }, CALL);
  const count = (name: Environment) => parts.rows.pets.count({ projectId, environment: name }, null);
  return {
    ...row,
    redirects: row.redirects as Project['redirects'],
    deployed: parts.deploys.list(projectId).some(({ status }) => status === 'succeeded'),
    keys: stored.flatMap(({ id, name, revokedAt }) => (revokedAt === undefined ? { id, name } : [])),
    pets: Object.fromEntries(environments.options.map((name) => [name, count(name)])) as Record<Environment, number>,
    requests: (await requests.get({ projectId }, CALL)).saved,
  };
}

async function currentRecords(zone: string, { rows }: WorldParts): Promise<CurrentRecord[]> {
  const found: CurrentRecord[] = [];
  for (const part of rows.records.parts(zone, RECORDS_PER_TURN)) {
    for (const row of part) {
      for (const data of readData(row)) found.push({ id: row.id, name: row.name, ttlSeconds: row.ttlSeconds, data });
    }
    await nextTurn();
  }
  return found;
}

/** Normalises a zone name; other text is returned unchanged, and the plan refuses it. */
export function normalForm(text: string): string {
  const verdict = evaluateHostname(text);
  return verdict.ok ? verdict.hostname : text;
}

export const normalZone = (text: string): string => orElse(() => newZoneName(text), text);

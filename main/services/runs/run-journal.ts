import { z } from 'zod';
import { CNAME_TARGET } from '../../base/config.ts';
import { isWithin } from '../../base/text/hostname.ts';
import type { Log } from '../../base/log.ts';
import { CALL } from '../../contract/calls.ts';
import type { Domain } from '../../contract/domains.ts';
import { target } from '../../contract/projects.ts';
import { run } from '../../contract/runs.ts';
import type { Services } from '../../contract/index.ts';
import { closestZone, nameWithin, recordNames } from '../../contract/record-plan.ts';
import type { RecordInfo, ZoneInfo } from '../../contract/zones.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import type { ProjectRows, SettingRows } from '../dependencies.ts';

/** The state that a run found, to determine at its end what it changed. */
const runTrace = z.object({
  projectId: z.string(),
  /** The slug of the project that it created; null if the project existed. */
  created: z.string().nullable(),
  /** The project's target before the run. */
  target,
  /** The target that the run set last. */
  url: z.string().nullable(),
  hostnames: z.array(
    z.object({ hostname: z.string(), attached: z.boolean(), records: z.array(z.string()), hasZone: z.boolean() }),
  ),
  /** As it is listed; absent in traces of earlier versions. */
  shown: run.optional(),
});
export type RunTrace = z.infer<typeof runTrace>;

export type RunJournal = ReturnType<typeof createRunJournal>;

/** The names in the table of settings. */
const SETTING = 'runs';
const ENDED = 'endedRuns';

const ENDED_MAX = 20;

interface JournalParts {
  services: () => Pick<Services, 'projects' | 'keys' | 'domains' | 'zones' | 'records'>;
  projects: Pick<ProjectRows, 'get'>;
  lifecycle: Pick<Lifecycle, 'find' | 'list'>;
  settings: SettingRows;
  log: Log;
  realNow: () => number;
}

/** The runs that have changed something; stored immediately, so a killed engine undoes them at its next start. */
export function createRunJournal(parts: JournalParts) {
  const { projects, lifecycle, settings, log } = parts;
  const read = () => new Map(Object.entries(z.record(z.string(), runTrace).catch({}).parse(settings.get()[SETTING])));
  let traces = read();
  const save = () => settings.set(SETTING, Object.fromEntries(traces));

  const ended = () => z.array(run).catch([]).parse(settings.get()[ENDED]);

  /** The slug of the project that the run made, if it stays. */
  async function undo(trace: RunTrace): Promise<string | undefined> {
    const { domains } = parts.services();
    const removed = new Map<string, Domain>();
    for (const { hostname, attached } of trace.hostnames) {
      if (!attached && lifecycle.find(hostname)?.projectId === trace.projectId)
        removed.set(hostname, await domains.remove({ hostname }, CALL));
    }
    for (const place of trace.hostnames) await undoRecords(place, removed.get(place.hostname));
    return undoProject(trace);
  }

  /** Removes the records that the domain required, and the zone created for them once it is otherwise empty. */
  async function undoRecords(place: RunTrace['hostnames'][number], domain: Domain | undefined): Promise<void> {
    const { zones, records } = parts.services();
    const own = await ownRecords({ zones, records }, place, domain);
    if (own === null) return;
    const { zone } = own;
    for (const { id } of own.records) await records.remove({ id }, CALL);
    if (place.hasZone) return;
    if ((await records.list({ zone: zone.name }, CALL)).length === 0) {
      await zones.remove({ name: zone.name }, CALL);
      return;
    }
    // Another run has a record in the zone, and removes the zone instead.
    for (const other of traces.values()) {
      for (const there of other.hostnames) if (isWithin(there.hostname, zone.name)) there.hasZone = false;
    }
  }

  async function undoProject({ projectId, created, target, url }: RunTrace): Promise<string | undefined> {
    const service = parts.services().projects;
    const now = projects.get(projectId);
    if (now === null) return undefined;
    const isOurs = url === null || (now.target.kind === 'upstream' && now.target.url === url);
    if (created === null) {
      if (isOurs && url !== null) await service.update({ projectId, target }, CALL);
      return undefined;
    }
    // A project that stays leads where it led: it was never the sample API.
    if (!isOurs || !(await isAsCreated(parts, projectId, created))) return now.slug;
    await service.remove({ projectId }, CALL);
    return undefined;
  }

  async function undoOne(id: string): Promise<string | undefined> {
    const trace = traces.get(id);
    if (trace === undefined) return undefined;
    traces.delete(id);
    try {
      return await undo(trace);
    } catch (error) {
      log.error('What a command changed could not be undone', { hostnames: trace.hostnames, error });
      return undefined;
    } finally {
      if (trace.shown !== undefined) remember(trace.shown);
      save();
    }
  }

  function remember(shown: z.infer<typeof run>): void {
    const others = ended().filter(({ project }) => project !== shown.project);
    const endedAt = new Date(parts.realNow()).toISOString();
    settings.set(ENDED, [...others, { ...shown, endedAt }].slice(-ENDED_MAX));
  }

  return {
    put(id: string, trace: RunTrace): void {
      traces.set(id, trace);
      save();
    },
    /** Undoes one run; failures are logged. Returns the slug of the project that it made, if it stays. */
    undo: undoOne,
    /** The last runs that have ended, one for each project, oldest first. */
    ended,
    /** The ids of the records that a run has put. */
    async recordsOf(id: string): Promise<string[]> {
      const held: RecordInfo[] = [];
      for (const place of traces.get(id)?.hostnames ?? []) {
        const { hostname } = place;
        const isAttached = lifecycle.find(hostname) !== null;
        const domain = isAttached ? await parts.services().domains.get({ hostname }, CALL) : undefined;
        held.push(...((await ownRecords(parts.services(), place, domain as Domain | undefined))?.records ?? []));
      }
      return held.map((record) => record.id);
    },
    async undoAll(): Promise<void> {
      for (const id of traces.keys()) await undoOne(id);
    },
    /** Reads the stored journal again after the store was replaced. */
    reload(): void {
      traces = read();
    },
  };
}

/** The zone of a run's hostname, and the records in it that the domain required and that were not there before. */
async function ownRecords(
  { zones, records }: Pick<Services, 'zones' | 'records'>,
  place: RunTrace['hostnames'][number],
  domain: Domain | undefined,
) {
  const zone = closestZone(place.hostname, (await zones.list({}, CALL)) as ZoneInfo[]);
  if (zone === null) return null;
  const own = nameWithin(place.hostname, zone.name);
  // In a zone that existed before, claims at other names may be older than the run.
  const names = domain === undefined || place.hasZone ? [own] : recordNames(domain, zone.name);
  const found: RecordInfo[] = [];
  for (const name of names) found.push(...((await records.list({ zone: zone.name, name }, CALL)) as RecordInfo[]));
  return {
    zone,
    records: found.filter(
      (record) => !place.records.includes(record.id) && (pointsToPlatform(record) || isInstruction(record, domain)),
    ),
  };
}

/** Whether a project is unchanged since a run created it. */
async function isAsCreated(
  { projects, lifecycle, services }: Pick<JournalParts, 'projects' | 'lifecycle' | 'services'>,
  projectId: string,
  slug: string,
): Promise<boolean> {
  const now = projects.get(projectId);
  const keys = await services().keys.list({ projectId }, CALL);
  return (
    now?.slug === slug &&
    now.plan === 'pro' &&
    now.redirects.length === 0 &&
    keys.length === 0 &&
    !lifecycle.list().some((domain) => domain.projectId === projectId)
  );
}

const pointsToPlatform = ({ type, value }: RecordInfo): boolean =>
  ['CNAME', 'ALIAS', 'ANAME'].includes(type) && value.replace(/\.$/, '') === CNAME_TARGET;

const isInstruction = ({ type, value }: RecordInfo, domain: Domain | undefined): boolean =>
  domain?.instructions.some((wanted) => wanted.type === type && wanted.value === value.replace(/\.$/, '')) === true;

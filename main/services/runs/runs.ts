import { once } from 'node:events';
import { platformHostname } from '../../base/config.ts';
import { createId } from '../../base/secret.ts';
import { createTurns } from '../../base/turns.ts';
import type { AttachedLocally } from '../../contract/domains.ts';
import { conflict, notFound, VivariumError } from '../../contract/errors.ts';
import type { CallContext, Services } from '../../contract/index.ts';
import { closestZone, nameWithin } from '../../contract/record-plan.ts';
import type { MappedRun, Run } from '../../contract/runs.ts';
import { exampleOf, isWildcard } from '../../contract/hostnames.ts';
import type { ZoneInfo } from '../../contract/zones.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import type { ProjectRow, ProjectRows } from '../dependencies.ts';
import { inputError, slugFromName } from '../projects/project-rules.ts';
import { existingProject } from '../projects/projects.ts';
import type { RunJournal, RunTrace } from './run-journal.ts';

const RUNS_MAX = 256;

/** Custom domains need a plan that has them. */
const PLAN = 'pro';

export interface RunParts {
  services: () => Pick<Services, 'projects' | 'deploys' | 'domains' | 'zones' | 'records'>;
  projects: Pick<ProjectRows, 'get' | 'getBySlug' | 'list'>;
  lifecycle: Pick<Lifecycle, 'find' | 'isAttached' | 'evaluate'>;
  journal: RunJournal;
  /** The address of a hostname over HTTPS. */
  urlOf: (hostname: string) => string;
  caFile: () => string;
  realNow: () => number;
  /** Announces that a project has a run, or no longer has one. */
  changed: (projectId: string) => void;
  /** Called when the run of a process has ended, its changes undone. */
  onEnded: (pid: number) => void;
  isAlive: (pid: number) => boolean;
}

interface LiveRun {
  about: Pick<Run, 'id' | 'pid' | 'folder' | 'command' | 'asked' | 'since'>;
  hostnames: readonly string[];
  keepHost: boolean;
  trace: RunTrace;
  /** The mapping in progress, or the last one. */
  work: Promise<unknown>;
  /** With the slug of the project that the run made, if it stays. */
  ended: Promise<string | undefined> | null;
  closed: PromiseWithResolvers<void>;
}

export type Runs = ReturnType<typeof createRuns>;

/**
 * Serves commands that `vivarium run` started. A run is a lease that lasts as long as its caller reads the stream of
 * `hold`, which always ends with the caller's process. Then the changes of the run are undone; a journal of them
 * survives a killed engine.
 */
export function createRuns(parts: RunParts) {
  const { projects, journal } = parts;
  const live = new Map<string, LiveRun>();
  // One at a time, so that a name cannot be taken twice.
  const { enqueue } = createTurns(1);

  async function begin(input: Parameters<Services['runs']['hold']>[0], context: CallContext): Promise<LiveRun> {
    const { projectId, keepHost = false, pid, folder, command, asked } = input;
    if (live.size >= RUNS_MAX) throw conflict(`${RUNS_MAX} commands run already; stop one first.`);
    const hostnames = checkHostnames(input);
    const name = input.name ?? hostnames[0]?.slice(0, NAME_LENGTH_MAX);
    if (projectId === undefined && name === undefined)
      throw inputError('name', 'is needed, or a hostname, or a project.');
    await endGone();
    const before = await readHostnames(hostnames, parts, context);
    const found =
      projectId === undefined ? projects.getBySlug(slugFromName(name ?? '')) : existingProject(projects, projectId);
    checkUse(hostnames, found, { ...parts, live: live.values() });
    const project = found ?? (await parts.services().projects.create({ name: name ?? '', plan: PLAN }, context));
    const id = createId('run');
    const created = found === null ? project.slug : null;
    const { target } = project;
    const trace: RunTrace = { projectId: project.id, created, target, url: null, hostnames: before };
    const about = { id, pid, folder, command, asked, since: new Date(parts.realNow()).toISOString() };
    const closed: LiveRun['closed'] = Promise.withResolvers();
    const run: LiveRun = { about, hostnames, keepHost, trace, work: Promise.resolve(), ended: null, closed };
    live.set(id, run);
    note(run);
    parts.changed(project.id);
    return run;
  }

  const note = (run: LiveRun): void =>
    journal.put(run.about.id, Object.assign(run.trace, { shown: present(run, parts) }));

  /** A killed process may be detected before its connection is closed. */
  async function endGone(): Promise<void> {
    const gone = [...live.values()].filter(({ ended, about }) => ended !== null || !parts.isAlive(about.pid));
    await Promise.all(gone.map(end));
  }

  function existing(id: string): LiveRun {
    const run = live.get(id);
    if (run !== undefined && run.ended === null) return run;
    throw notFound(`No command with the id "${id}" is running. List them: \`runs.list\`.`);
  }

  function end(run: LiveRun): Promise<string | undefined> {
    run.ended ??= (async () => {
      await run.work;
      const kept = await journal.undo(run.about.id);
      live.delete(run.about.id);
      parts.onEnded(run.about.pid);
      parts.changed(run.trace.projectId);
      run.closed.resolve();
      return kept;
    })();
    return run.ended;
  }

  const list = (): Run[] =>
    [...live.values()]
      .filter(({ ended, trace }) => ended === null && projects.get(trace.projectId) !== null)
      .map((run) => present(run, parts));

  const services: Services['runs'] = {
    async *hold(input, context) {
      const run = await enqueue(() => begin(input, context));
      try {
        yield { ...present(run, parts), caFile: parts.caFile() };
        await Promise.race([aborted(context.signal), run.closed.promise]);
      } finally {
        await end(run);
      }
    },
    map({ id, url }, context) {
      const run = existing(id);
      const mapping = run.work.then(() => map(run, url, () => note(run), parts, context));
      run.work = mapping.catch(() => undefined);
      return mapping;
    },
    async close({ id }) {
      const kept = await end(existing(id));
      return { id, ...(kept !== undefined && { kept }) };
    },
    async list({ ended } = { ended: false }) {
      const held = list().map(async (run) => ({ ...run, records: await journal.recordsOf(run.id) }));
      return [...(ended ? journal.ended() : []), ...(await Promise.all(held))];
    },
  };

  return {
    services,
    list,
    recordsOf: journal.recordsOf,
    /** Undoes the changes of runs of a killed engine. */
    recover: journal.undoAll,
    async stop(): Promise<void> {
      await Promise.all([...live.values()].map(end));
    },
    /**
     * Ends all leases and keeps their changes, which disappear with the replaced world. The commands reconnect, as
     * after a restart.
     */
    async interrupt(): Promise<void> {
      const runs = [...live.values()];
      for (const run of runs) run.ended ??= Promise.resolve(undefined);
      await Promise.all(runs.map(({ work, ended }) => Promise.all([work, ended])));
    },
    /** Undoes the changes of runs in the restored world. */
    async restored(): Promise<void> {
      for (const { about, closed } of live.values()) {
        live.delete(about.id);
        closed.resolve();
      }
      journal.reload();
      await journal.undoAll();
    },
  };
}

const NAME_LENGTH_MAX = 100;

function checkHostnames({ hostname, wildcard }: { hostname?: string | undefined; wildcard: boolean }): string[] {
  if (hostname === undefined) {
    if (wildcard) throw inputError('wildcard', 'needs a custom hostname, such as "app.acme.test".');
    return [];
  }
  const verdict = evaluateHostname(hostname);
  if (!verdict.ok) {
    const message = `${verdict.refusal.message} ${verdict.refusal.fix}`;
    throw new VivariumError(verdict.refusal.code, message, { issues: [{ path: 'hostname', message }] });
  }
  const own = verdict.hostname;
  return wildcard && !isWildcard(own) ? [own, `*.${own}`] : [own];
}

/** @throws VivariumError when a hostname or the project is in use, or may not be used. */
function checkUse(
  hostnames: readonly string[],
  project: ProjectRow | null,
  { projects, lifecycle, live }: Pick<RunParts, 'projects' | 'lifecycle'> & { live: Iterable<LiveRun> },
): void {
  for (const other of live) {
    const shared = hostnames.find((hostname) => other.hostnames.includes(hostname));
    if (shared === undefined && other.trace.projectId !== project?.id) continue;
    const what = shared ?? `the project "${project?.name ?? ''}"`;
    const { pid, folder } = other.about;
    throw conflict(
      `Process ${pid} is already running ${what}, in ${folder}. Stop it there, or choose another name: vivarium run NAME -- …`,
    );
  }
  for (const hostname of hostnames) {
    const holder = lifecycle.find(hostname);
    if (holder !== null && holder.projectId !== project?.id) {
      const { name, slug } = existingProject(projects, holder.projectId);
      throw new VivariumError(
        'in_use',
        `"${hostname}" is attached to the project "${name}". Run the command for that project with --project ${slug}, or choose another hostname.`,
      );
    }
    const verdict = project === null || holder !== null ? null : lifecycle.evaluate(project.id, hostname);
    if (verdict?.ok === false && verdict.refusal.code !== 'deploy_required') {
      throw new VivariumError(verdict.refusal.code, `${verdict.refusal.message} ${verdict.refusal.fix}`);
    }
  }
}

/** The state of the hostnames before the run. */
async function readHostnames(
  hostnames: readonly string[],
  { services, lifecycle }: Pick<RunParts, 'services' | 'lifecycle'>,
  context: CallContext,
): Promise<RunTrace['hostnames']> {
  const { zones, records } = services();
  return Promise.all(
    hostnames.map(async (hostname) => {
      const zone = closestZone(hostname, (await zones.list({}, context)) as ZoneInfo[]);
      const found =
        zone === null ? [] : await records.list({ zone: zone.name, name: nameWithin(hostname, zone.name) }, context);
      return {
        hostname,
        attached: lifecycle.find(hostname) !== null,
        records: found.map(({ id }) => id),
        hasZone: zone !== null,
      };
    }),
  );
}

function present({ about, hostnames, trace }: LiveRun, { projects, lifecycle, urlOf }: RunParts): Run {
  const { slug } = existingProject(projects, trace.projectId);
  const shown = hostnames.map((hostname) => exampleOf(hostname, lifecycle.isAttached));
  const served = [...shown, platformHostname(slug, 'production')];
  return {
    ...about,
    projectId: trace.projectId,
    project: slug,
    created: trace.created !== null,
    hostnames: [...hostnames],
    urls: [...new Set(served)].map(urlOf),
    ...(trace.url !== null && { target: trace.url }),
  };
}

/** Points the project of a run at its command, and attaches its hostnames. */
async function map(
  run: LiveRun,
  url: string,
  note: () => void,
  parts: RunParts,
  context: CallContext,
): Promise<MappedRun> {
  const { trace } = run;
  const { projects } = parts;
  const { projects: service, deploys, domains } = parts.services();
  const { target } = existingProject(projects, trace.projectId);
  const kept = target.kind === 'upstream' ? target : {};
  trace.url = url;
  note();
  // Development servers have self-signed certificates; the connection stays on this machine.
  const own = {
    kind: 'upstream',
    url,
    ...(url.startsWith('https:') && { verifyCertificate: false }),
    ...(run.keepHost && ({ host: 'keep' } as const)),
  } as const;
  await service.update({ projectId: trace.projectId, target: { ...kept, ...own } }, context);
  const deploy = await deploys.create({ projectId: trace.projectId }, context);
  if (deploy.status === 'failed') throw new VivariumError('deploy_required', deploy.reason ?? 'It does not answer.');
  const attached: MappedRun['domains'] = [];
  for (const hostname of run.hostnames) {
    const input = { projectId: trace.projectId, hostname, local: true };
    const { steps = [], serving }: AttachedLocally = await domains.attach(input, context);
    attached.push({ hostname, steps, serving });
  }
  return { run: present(run, parts), domains: attached };
}

const aborted = async (signal: AbortSignal | undefined): Promise<void> => {
  if (signal?.aborted === false) await once(signal, 'abort');
};

import { messageOf } from '../../base/error-code.ts';
import type { Dataset } from '../../model/pet.ts';
import type { Clock } from '../../base/clock.ts';
import { platformHostname } from '../../base/config.ts';
import { originOf } from '../../base/text/hostname.ts';
import { createId } from '../../base/secret.ts';
import { conflict } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import { factsOf, type Plan } from '../../contract/plans.ts';
import type { PlanLimits, Project, Deploy, TargetSetting } from '../../contract/projects.ts';
import type { Effects, ProjectRow, ProjectRows, DeployRow, DeployRows } from '../dependencies.ts';
import { noProject, freeSlug, inputError, limitsForPlan, slugFault, slugFromName } from './project-rules.ts';

/** The listeners' ports, once they are bound. */
export interface ListenerPorts {
  http: number;
  https: number;
}

export function presentProject(row: ProjectRow, limits: PlanLimits, ports: ListenerPorts): Project {
  // Custom domains serve production; staging keeps the platform's hostname.
  const production = row.primary ?? platformHostname(row.slug, 'production');
  const staging = platformHostname(row.slug, 'staging');
  // The built-in API's addresses include the version; an upstream chooses its own paths.
  const path = row.target.kind === 'api' ? '/v1' : '';
  const addresses = (scheme: 'http' | 'https') => ({
    production: originOf(scheme, production, ports[scheme]) + path,
    staging: originOf(scheme, staging, ports[scheme]) + path,
  });
  const { createdAtMs, ...shown } = row;
  return {
    ...{ ...shown, limits, baseUrl: addresses('http'), secureBaseUrl: addresses('https') },
    createdAt: new Date(createdAtMs).toISOString(),
  };
}

/** Maximum number of projects; the route table and the lists are sized for it. */
export const PROJECTS_MAX = 20_000;

export function createProjectServices(options: {
  clock: Pick<Clock, 'now'>;
  projects: ProjectRows;
  effects: Effects;
  leadsToControl: (url: string) => Promise<boolean>;
  /** Computed fields of a project: base addresses and the limits of the plan. */
  present: (row: ProjectRow) => Project;
  /** Called after a project's plan has changed; the service publishes the effect on its domains. */
  planChanged: (projectId: string) => void;
  /** Called after a project's persona has changed, to check its domains by the new one. */
  personaChanged: (projectId: string) => void;
  /** Creates the demo; returns the id of its first project. */
  makeDemo: () => Promise<string>;
  /** Called after a project is removed, to drop its state from memory. */
  forget: (projectId: string) => void;
}): Services['projects'] {
  const { clock, projects, effects, present } = options;

  function changed(projectId: string): Project {
    effects.publish();
    effects.emit('projects.changed', { projectId });
    return present(existingProject(projects, projectId));
  }

  /** As an upstream it would be reached by the hostname’s clients, because Host and Origin are rewritten. */
  async function checkTarget(target: TargetSetting | undefined): Promise<void> {
    if (target?.kind !== 'upstream' || !(await options.leadsToControl(target.url))) return;
    throw inputError('target', `${target.url} is the control port of this Vivarium. Point it at your own server.`);
  }

  function checkSlug(slug: string, ownId: string | null): string {
    const fault = slugFault(slug);
    if (fault !== null) throw inputError('slug', fault);
    const holder = projects.getBySlug(slug);
    if (holder !== null && holder.id !== ownId) {
      const message = `The slug "${slug}" belongs to the project "${holder.name}"; choose another one.`;
      throw conflict(message, { issues: [{ path: 'slug', message: 'is taken' }] });
    }
    return slug;
  }

  return {
    list: () => projects.list().map(present),
    get: ({ projectId }) => present(existingProject(projects, projectId)),
    async create(input) {
      await checkTarget(input.target);
      if (projects.count() >= PROJECTS_MAX) {
        throw conflict(`There are ${PROJECTS_MAX} projects already; remove one first.`);
      }
      const slug =
        input.slug === undefined
          ? freeSlug(slugFromName(input.name), (candidate) => projects.getBySlug(candidate) !== null)
          : checkSlug(input.slug, null);
      const id = createId('prj');
      projects.insert({
        id,
        name: input.name,
        slug,
        plan: input.plan,
        limits: limitsForPlan(input.plan, input.limits),
        target: input.target ?? { kind: 'api' },
        primary: null,
        redirects: [],
        persona: input.persona ?? 'animal-store',
        createdAtMs: clock.now(),
      });
      return changed(id);
    },
    demo: async () => present(existingProject(projects, await options.makeDemo())),
    async update({ projectId, ...input }) {
      await checkTarget(input.target);
      const row = existingProject(projects, projectId);
      projects.update(projectId, {
        ...(input.name !== undefined && { name: input.name }),
        ...(input.slug !== undefined && { slug: checkSlug(input.slug, projectId) }),
        ...planPatch(row, input.plan, input.limits),
        ...(input.target !== undefined && { target: input.target }),
        ...(input.persona !== undefined && { persona: input.persona }),
      });
      if (input.plan !== undefined && input.plan !== row.plan) options.planChanged(projectId);
      if (input.persona !== undefined && input.persona !== row.persona) options.personaChanged(projectId);
      return changed(projectId);
    },
    remove({ projectId }) {
      const removed = present(existingProject(projects, projectId));
      projects.remove(projectId);
      effects.publish();
      options.forget(projectId);
      effects.emit('projects.changed', { projectId });
      return removed;
    },
  };
}

function planPatch(row: ProjectRow, plan: Plan = row.plan, limits: PlanLimits | undefined): Partial<ProjectRow> {
  const kept = factsOf(plan).limits === null ? row.limits : null;
  return { plan, limits: limitsForPlan(plan, limits ?? kept) };
}

/** @throws VivariumError not_found */
export function existingProject(projects: Pick<ProjectRows, 'get' | 'list'>, projectId: string): ProjectRow {
  const row = projects.get(projectId);
  if (row === null) throw noProject(projectId, projects);
  return row;
}

/** The dataset of an input. @throws VivariumError not_found */
export function existingDataset(projects: ProjectRows, { projectId, environment }: Dataset): Dataset {
  existingProject(projects, projectId);
  return { projectId, environment };
}

export function createDeployServices(options: {
  clock: Pick<Clock, 'now'>;
  projects: ProjectRows;
  deploys: DeployRows;
  effects: Effects;
  /** Rejects with the reason when the project's target does not answer. */
  probe: (project: ProjectRow) => Promise<void>;
}): Services['deploys'] {
  const { clock, projects, deploys, effects, probe } = options;
  return {
    async create({ projectId }) {
      const reason = await probe(existingProject(projects, projectId)).then(() => null, messageOf);
      // The project may have been removed meanwhile.
      existingProject(projects, projectId);
      const row: DeployRow = {
        id: createId('dep'),
        projectId,
        status: reason === null ? 'succeeded' : 'failed',
        reason,
        createdAtMs: clock.now(),
      };
      deploys.insert(row);
      effects.emit('deploys.changed', { projectId });
      return presentDeploy(row);
    },
    list({ projectId }) {
      existingProject(projects, projectId);
      return deploys.list(projectId).map(presentDeploy);
    },
  };
}

const presentDeploy = (row: DeployRow): Deploy => ({
  id: row.id,
  status: row.status,
  ...(row.reason !== null && { reason: row.reason }),
  createdAt: new Date(row.createdAtMs).toISOString(),
});

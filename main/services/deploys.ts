import type { Clock } from '../base/clock.ts';
import { createId } from '../base/secret.ts';
import type { Deploy } from '../contract/projects.ts';
import type { Services } from '../contract/index.ts';
import type { DeployRow, DeployRows, Effects, ProjectRow, ProjectRows } from './dependencies.ts';
import { existingProject } from './projects.ts';

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
      const reason = await failureOf(probe(existingProject(projects, projectId)));
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

async function failureOf(attempt: Promise<void>): Promise<string | null> {
  try {
    await attempt;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const presentDeploy = (row: DeployRow): Deploy => ({
  id: row.id,
  status: row.status,
  ...(row.reason !== null && { reason: row.reason }),
  createdAt: new Date(row.createdAtMs).toISOString(),
});

import type { Services } from '../contract/index.ts';
import type { RequestRates, StatusReport } from '../contract/status.ts';
import type { ProjectRows } from './dependencies.ts';
import { existingProject } from './projects.ts';

export function createStatusServices(options: {
  projects: Pick<ProjectRows, 'get'>;
  report: () => StatusReport;
  /** Of one project, or of all. */
  rates: (projectId?: string) => RequestRates;
}): Services['status'] {
  return {
    get: options.report,
    rates({ projectId } = {}) {
      if (projectId !== undefined) existingProject(options.projects, projectId);
      return options.rates(projectId);
    },
  };
}

import type { EventBus } from '../base/events.ts';
import type { DoctorArea, DoctorReport } from '../contract/doctor.ts';
import type { Services } from '../contract/index.ts';
import type { RequestRates, StatusReport } from '../contract/status.ts';
import type { ProjectRows } from './dependencies.ts';
import { existingProject } from './projects/projects.ts';

export function createStatusServices(options: {
  projects: Pick<ProjectRows, 'get' | 'list'>;
  report: () => StatusReport;
  /** For one project, or all. */
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

export function createDoctorServices(doctor: {
  run(areas?: readonly DoctorArea[]): Promise<DoctorReport>;
}): Services['doctor'] {
  return { run: (input) => doctor.run(input?.areas) };
}

export function createAccessServices(control: { renewToken(): void; signInLink(): string }): Services['access'] {
  return {
    renewToken() {
      control.renewToken();
      return { signInLink: control.signInLink() };
    },
  };
}

export function createEventServices(bus: EventBus): Services['events'] {
  return { watch: (_input, { signal }) => bus.watch(signal) };
}

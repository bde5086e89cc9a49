import type { Breaks } from '../../breaks/breaks.ts';
import type { StatusReport } from '../../contract/status.ts';
import type { Doctor } from '../../doctor/checkup.ts';
import type { Drills } from '../../drills/drills.ts';
import { limitsOf } from '../../model/rate-decision.ts';
import type { ProjectRow } from '../../services/dependencies.ts';
import type { Demo } from '../../services/projects/demo.ts';
import { presentProject } from '../../services/projects/projects.ts';
import { resolveReferences } from '../../services/world/references.ts';
import { createEntryIds } from '../../traffic/entry.ts';
import { createRedactors } from '../../traffic/redact.ts';
import type { Acme } from '../acme.ts';
import type { Certificates } from '../certificates.ts';
import type { DataPlane } from '../data-plane.ts';
import type { Dns } from '../dns.ts';
import type { Domains } from '../domains.ts';
import type { Foundation } from '../foundation.ts';
import type { Lan } from '../lan.ts';
import type { Providers } from '../providers.ts';
import type { EngineMachine, Reach } from '../reach.ts';

export interface ServiceParts {
  acme: Acme;
  certificates: Certificates;
  dns: Dns;
  domains: Domains;
  dataPlane: DataPlane;
  reach: Reach;
  machine: EngineMachine;
  lan: Lan;
  breaks: Breaks;
  drills: Drills;
  providers: Providers;
  publish: () => void;
  statusReport: () => StatusReport;
  doctor: Doctor;
  control: () => { port: number; renewToken(): void; signInLink(): string };
}

/** What the services of several namespaces use. */
export type Shared = ReturnType<typeof share>;

export function share({ clock, store, events, settings }: Foundation, parts: ServiceParts, demo: () => Demo) {
  const { projects, keys } = store;
  return {
    effects: { emit: events.emit, publish: parts.publish },
    present: (row: ProjectRow) => presentProject(row, limitsOf(row), parts.dataPlane.ports),
    slugOf: (projectId: string) => projects.get(projectId)?.slug ?? null,
    resolve: (input: unknown) => resolveReferences(input, { projects, keys }),
    redactor: createRedactors(() => settings.current().secretNames),
    trafficIds: createEntryIds(clock.state().realNow),
    /** Made of the services, which it creates its projects with. */
    demo,
  };
}

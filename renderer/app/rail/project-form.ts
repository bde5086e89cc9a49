import { factsOf, type Plan } from '../../../main/contract/plans.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { Client } from '../../connection/transport.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { readLimits } from '../../shared/limits/plans.ts';
import { API_TARGET, readTarget, type TargetValues } from '../../shared/project/project-target.ts';

/** A project as typed; fields are named by their input paths. */
export interface ProjectValues extends TargetValues {
  name: string;
  /** Empty: derived from the name. */
  slug: string;
  plan: Plan;
  /** For a plan whose limits are agreed only. */
  'limits.perMinute': string;
  'limits.perDay': string;
}

type CreateInput = Parameters<Client['projects']['create']>[0];

const EMPTY: ProjectValues = {
  name: '',
  slug: '',
  plan: 'free',
  'limits.perMinute': '',
  'limits.perDay': '',
  ...API_TARGET,
};

/** The engine's input for the typed values, without those of another plan or target. */
export function projectInput(values: ProjectValues): CreateInput {
  const { name, slug, plan } = values;
  return {
    name,
    ...(slug !== '' && { slug }),
    plan,
    ...(factsOf(plan).limits === null && { limits: readLimits(values) }),
    target: readTarget(values),
  };
}

export const createProjectForm = (client: Client): Form<ProjectValues, Project> =>
  new Form({
    values: EMPTY,
    submit: (values) => client.projects.create(projectInput(values)),
  });

import type { Plan, Project } from '../../main/contract/projects.ts';
import type { Client } from '../connection/transport.ts';
import { Form } from './form.svelte.ts';
import { readLimits } from './plans.ts';
import { API_TARGET, readTarget, type TargetValues } from './project-target.ts';

/** A project as it is typed; each field is named by its place in the input. */
export interface ProjectValues extends TargetValues {
  name: string;
  /** Empty: made from the name. */
  slug: string;
  plan: Plan;
  /** Of Enterprise only. */
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

/** What is typed as the engine takes it; what belongs to another plan or target than the chosen one stays behind. */
export function projectInput(values: ProjectValues): CreateInput {
  const { name, slug, plan } = values;
  return {
    name,
    ...(slug !== '' && { slug }),
    plan,
    ...(plan === 'enterprise' && {
      limits: readLimits(values),
    }),
    target: readTarget(values),
  };
}

/** Makes a project. */
export const createProjectForm = (client: Client): Form<ProjectValues, Project> =>
  new Form({
    values: EMPTY,
    submit: (values) => client.projects.create(projectInput(values)),
  });

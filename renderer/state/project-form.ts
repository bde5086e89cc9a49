import type { Plan, Project } from '../../main/contract/projects.ts';
import type { Client } from '../connection/transport.ts';
import { Form } from './form.svelte.ts';
import { readLimits } from './plans.ts';

/** A project as it is typed; each field is named by its place in the input. */
export interface ProjectValues extends Record<string, unknown> {
  name: string;
  /** Empty: made from the name. */
  slug: string;
  plan: Plan;
  /** Of Enterprise only. */
  'limits.perMinute': string;
  'limits.perDay': string;
  target: Project['target']['kind'];
  /** Of an upstream only. */
  'target.url': string;
}

type CreateInput = Parameters<Client['projects']['create']>[0];

const EMPTY: ProjectValues = {
  name: '',
  slug: '',
  plan: 'free',
  'limits.perMinute': '',
  'limits.perDay': '',
  target: 'api',
  'target.url': '',
};

/** What is typed as the engine takes it; what belongs to another plan or target than the chosen one stays behind. */
export function projectInput(values: ProjectValues): CreateInput {
  const { name, slug, plan, target } = values;
  return {
    name,
    ...(slug !== '' && { slug }),
    plan,
    ...(plan === 'enterprise' && {
      limits: readLimits(values),
    }),
    target: target === 'api' ? { kind: 'api' } : { kind: 'upstream', url: values['target.url'] },
  };
}

/** Makes a project. */
export const createProjectForm = (client: Client): Form<ProjectValues, Project> =>
  new Form({
    values: EMPTY,
    submit: (values) => client.projects.create(projectInput(values)),
  });

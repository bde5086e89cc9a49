import type { Deploy, Project } from '../../../main/contract/projects.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { API_TARGET, readTarget, type TargetValues } from '../../shared/project/project-target.ts';
import { Task } from '../../shared/controls/task.svelte.ts';

export interface NameValues extends Record<string, unknown> {
  name: string;
  slug: string;
}

/** The editable settings of one project. Created when the project is selected, closed when it is not. */
export class ProjectSettings {
  readonly deploys: LiveQuery<Deploy[]>;
  readonly naming: Form<NameValues, Project>;
  readonly targeting: Form<TargetValues, Project>;
  readonly deploying: Task<[], Deploy>;

  constructor(source: Source & { project: Project }) {
    const { client, project } = source;
    const projectId = project.id;
    this.deploys = new LiveQuery(
      source,
      (change) => change.type === 'deploys.changed' && change.projectId === projectId,
      (signal) => client.deploys.list({ projectId }, { signal }),
    );
    this.naming = new Form({
      values: namesOf(project),
      submit: ({ name, slug }) => client.projects.update({ projectId, name, slug }),
    });
    this.targeting = new Form({
      values: targetOf(project),
      submit: (values) => client.projects.update({ projectId, target: readTarget(values) }),
    });
    this.deploying = new Task(() => client.deploys.create({ projectId }));
  }

  close(): void {
    this.deploys.close();
  }
}

export const namesOf = ({ name, slug }: Project): NameValues => ({ name, slug });

/** The field values of a project's target, with the engine's defaults filled in. */
export function targetOf({ target }: Pick<Project, 'target'>): TargetValues {
  if (target.kind === 'api') return API_TARGET;
  return {
    target: 'upstream',
    'target.url': target.url,
    'target.host': target.host ?? 'rewrite',
    'target.limited': target.limited ?? false,
    'target.withoutKey': target.withoutKey ?? 'free',
    'target.verifyCertificate': target.verifyCertificate ?? true,
    'target.checkPath': target.checkPath ?? '',
  };
}

/** Whether the fields differ from a saved target, ignoring those that the built-in API does not use. */
export const isOtherTarget = (values: TargetValues, saved: TargetValues): boolean =>
  JSON.stringify(readTarget(values)) !== JSON.stringify(readTarget(saved));

/** Everything removed together with a project. */
export async function readLosses(client: Client, projectId: string, signal?: AbortSignal) {
  const petsOf = async (environment: 'production' | 'staging') =>
    (await client.pets.list({ projectId, environment, limit: 1 }, { signal })).total;
  const ordersOf = async (environment: 'production' | 'staging') =>
    (await client.orders.list({ projectId, environment }, { signal })).length;
  const [keys, production, staging, ordered, stagingOrdered, domains] = await Promise.all([
    client.keys.list({ projectId }, { signal }),
    petsOf('production'),
    petsOf('staging'),
    ordersOf('production'),
    ordersOf('staging'),
    client.domains.list({ projectId }, { signal }),
  ]);
  return {
    keys: keys.filter(({ revokedAt }) => revokedAt === undefined).length,
    pets: { production, staging },
    orders: ordered + stagingOrdered,
    hostnames: domains.map(({ hostname }) => hostname),
  };
}

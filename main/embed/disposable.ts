import { VivariumError } from '../contract/errors.ts';
import type { Client } from './client.ts';
import type { EngineFetch } from './fetch.ts';
import type { Tenant, TenantOptions, Break } from './types.ts';

/** Creates a project with a key, a deploy and pets. Closing the tenant removes the project. */
export async function openTenant(
  name: string,
  client: Pick<Client, 'projects' | 'keys' | 'deploys' | 'pets'>,
  fetch: EngineFetch['fetch'],
  { limits, plan = limits === undefined ? 'free' : 'enterprise', pets = 0 }: TenantOptions,
): Promise<Tenant> {
  const project = await client.projects.create({ name, plan, limits });
  const projectId = project.id;
  const remove = async () => void (await client.projects.remove({ projectId }));
  try {
    const key = await client.keys.create({ projectId });
    await client.deploys.create({ projectId });
    if (pets > 0) await client.pets.seed({ projectId, environment: 'production', count: pets });
    const baseUrl = project.secureBaseUrl.production;
    let closing: Promise<void> | null = null;
    const close = () => (closing ??= remove());
    return {
      id: projectId,
      slug: project.slug,
      key: key.secret,
      baseUrl,
      fetch(input, init) {
        const request = new Request(typeof input === 'string' && input.startsWith('/') ? baseUrl + input : input, init);
        if (!request.headers.has('authorization')) request.headers.set('authorization', `Bearer ${key.secret}`);
        return fetch(request);
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Breaks something until it is repaired. */
export async function startBreak(
  { breaks }: Pick<Client, 'breaks'>,
  input: Parameters<Client['breaks']['start']>[0],
): Promise<Break> {
  const { id } = await breaks.start(input);
  const stop = async (): Promise<void> => {
    try {
      await breaks.stop({ id });
    } catch (error) {
      // The break's time is over, or all breaks were repaired.
      if (!(error instanceof VivariumError) || error.code !== 'not_found') throw error;
    }
  };
  let repairing: Promise<void> | null = null;
  const repair = (): Promise<void> => (repairing ??= stop());
  return { id, repair, [Symbol.asyncDispose]: repair };
}

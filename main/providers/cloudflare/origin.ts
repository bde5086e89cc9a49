import { z } from 'zod';
import { operation } from '../operations.ts';
import type { Call, Operation, ProviderItem, Reply } from '../provider.ts';
import { ok, type Zone, zoneIn, zoneStatus } from './account.ts';
import { fail } from './codes.ts';
import { ZONE } from './zones.ts';

const input = z.object({ origin: z.string().min(1).max(255) });

const itemOf = ({ world }: Call, zone: Zone): ProviderItem | undefined =>
  world.items.list('origin').find(({ projectId, name }) => projectId === zone.project.id && name === zone.name);

/** Whether a name of the zone has addresses, or leads to some. */
export async function isOrigin({ world }: Call, { name }: Zone, origin: string): Promise<boolean> {
  if (origin !== name && !origin.endsWith(`.${name}`)) return false;
  const found = await Promise.all([world.resolve(origin, 'A'), world.resolve(origin, 'CNAME')]);
  return found.some((values) => values.length > 0);
}

/** The fallback origin of a zone, in the state that its DNS has; a project's own zone has one from the beginning. */
async function originOf(call: Call, zone: Zone) {
  const item = itemOf(call, zone);
  const isOwn = zone.added === null;
  const origin = typeof item?.data['origin'] === 'string' ? item.data['origin'] : isOwn ? zone.name : null;
  if (origin === null || item?.data['removed'] === true) return null;
  const at = new Date(item?.createdAtMs ?? 0).toISOString();
  const isActive = (await zoneStatus(call, zone)) === 'active' && (await isOrigin(call, zone, origin));
  return {
    origin,
    status: isActive ? 'active' : 'pending_deployment',
    errors: isActive ? [] : [`DNS record for origin ${origin} not found.`],
    created_at: at,
    updated_at: at,
  };
}

/** Why hostnames of the zone cannot be active, in the words of `hostname-validation/error-codes`; null if they can. */
export async function originFault(call: Call, zone: Zone): Promise<string | null> {
  const origin = await originOf(call, zone);
  if (origin === null) return 'Zone does not have a fallback origin set.';
  return origin.status === 'active' ? null : `Fallback origin is in a status of ${origin.status}.`;
}

async function put(call: Call): Promise<Reply> {
  const zone = zoneIn(call);
  const origin = (call.body as z.infer<typeof input>).origin.toLowerCase();
  if (origin.startsWith('*.')) fail(1420);
  if (origin !== zone.name && !origin.endsWith(`.${zone.name}`)) fail(1421);
  call.world.items.put({ kind: 'origin', projectId: zone.project.id, name: zone.name, data: { origin } });
  return ok(await originOf(call, zone));
}

async function remove(call: Call): Promise<Reply> {
  const zone = zoneIn(call);
  const before = (await originOf(call, zone)) ?? fail(1551);
  const item = { kind: 'origin', projectId: zone.project.id, name: zone.name } as const;
  call.world.items.put({ ...item, data: { removed: true } });
  return ok({ ...before, status: 'pending_deletion' });
}

const PATH = `${ZONE}/custom_hostnames/fallback_origin`;

export const ORIGINS: readonly Operation[] = [
  operation('customHostnames.fallbackOrigin.get', `GET ${PATH}`, async (call) =>
    ok((await originOf(call, zoneIn(call))) ?? fail(1551)),
  ),
  operation('customHostnames.fallbackOrigin.update', `PUT ${PATH}`, put, { input }),
  operation('customHostnames.fallbackOrigin.delete', `DELETE ${PATH}`, remove),
];

import { z } from 'zod';
import { missing, operation } from '../operations.ts';
import type { ProviderItem } from '../facts.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import {
  accountIdOf,
  fail,
  idOf,
  matches,
  ok,
  page,
  serversFor,
  type Zone,
  zoneIn,
  zonesOf,
  zoneStatus,
} from './account.ts';

const creation = z.object({ name: z.string().max(1_000), type: z.string().optional() });

const accountShown = ({ account }: Call) => ({
  id: accountIdOf(account),
  name: account.projects[0].name,
  type: 'standard',
  settings: { enforce_twofactor: false },
  created_on: new Date(0).toISOString(),
});

async function shown(call: Call, zone: Zone) {
  const { id, name, servers, added } = zone;
  const [status, found] = await Promise.all([zoneStatus(call, zone), call.world.resolve(name, 'NS')]);
  const { settings: _, ...account } = accountShown(call);
  const isActive = status === 'active';
  const at = new Date(added?.createdAtMs ?? 0).toISOString();
  return {
    ...{ id, name, status, paused: false, type: 'full', development_mode: 0 },
    name_servers: added === null ? found : servers,
    original_name_servers: isActive ? null : found,
    ...{ original_registrar: null, original_dnshost: null, created_on: at, modified_on: at },
    activated_on: isActive ? new Date(Number(added?.data['activatedMs'] ?? 0)).toISOString() : null,
    meta: { step: 2, custom_certificate_quota: 0, page_rule_quota: 3, phishing_detected: false },
    owner: { id: account.id, type: 'user', email: 'vivarium@example.com' },
    account: { id: account.id, name: account.name },
    permissions: ['#dns_records:read', '#dns_records:edit', '#zone:read', '#zone:edit', '#ssl:read', '#ssl:edit'],
    plan: { id: 'free', name: 'Free Website', price: 0, currency: 'USD', is_subscribed: false, can_subscribe: false },
  };
}

async function list(call: Call): Promise<Reply> {
  const { query, account } = call;
  const isAsked = query.get('account.id') === null || query.get('account.id') === accountIdOf(account);
  const found = zonesOf(call).filter(({ name }) => isAsked && matches(query, { name }));
  const sign = query.get('direction') === 'desc' ? -1 : 1;
  if (query.get('order') === 'name') found.sort((one, other) => sign * (one.name < other.name ? -1 : 1));
  const all = await Promise.all(found.map((zone) => shown(call, zone)));
  return page(
    all.filter(({ status }) => matches(query, { status })),
    query,
    50,
  );
}

/** Adds a zone; its records are at Cloudflare once it has the name servers that the answer names. */
async function create(call: Call, { name: given, type }: z.infer<typeof creation>): Promise<Reply> {
  const { world, account } = call;
  if (type === 'partial') fail(1104);
  const { hostname: name, apex } = world.hostname(given, (fault) => fail(1099, fault, given));
  if (name !== apex) fail(1116);
  if (zonesOf(call).some((zone) => zone.name === name)) fail(1061, undefined, name);
  const [project] = account.projects;
  await world.addZone(account, project.id, { name, servers: serversFor(project) });
  return ok(await shown(call, zoneIn({ ...call, params: { zone_id: idOf(name) } })));
}

async function removeZone(call: Call): Promise<Reply> {
  const { id, servers, added } = zoneIn(call);
  if (added === null) return fail(1097);
  await call.world.dropZone(added, servers);
  return ok({ id });
}

const ROOT = '/client/v4';
export const ZONE = `${ROOT}/zones/{zone_id}`;

export const ZONES: readonly Operation[] = [
  operation('zones.list', `GET ${ROOT}/zones`, list),
  operation('zones.create', `POST ${ROOT}/zones`, create, { input: creation }),
  operation('zones.get', `GET ${ZONE}`, async (call) => ok(await shown(call, zoneIn(call)))),
  operation('zones.delete', `DELETE ${ZONE}`, removeZone),
  missing('zones.edit', `PATCH ${ZONE}`, 'A local zone cannot be paused, and has one type.'),
  operation('zones.activationCheck.trigger', `PUT ${ZONE}/activation_check`, (call) => ok({ id: zoneIn(call).id })),
  operation('accounts.list', `GET ${ROOT}/accounts`, (call) => page([accountShown(call)], call.query, 50)),
  operation('user.tokens.verify', `GET ${ROOT}/user/tokens/verify`, ({ account }) =>
    ok({ id: accountIdOf(account), status: 'active' }, 200, {
      messages: [{ code: 10_000, message: 'This API Token is valid and active', type: null }],
    }),
  ),
];

const originInput = z.object({ origin: z.string().min(1).max(255) });

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

async function putOrigin(call: Call, wanted: z.infer<typeof originInput>): Promise<Reply> {
  const zone = zoneIn(call);
  const origin = wanted.origin.toLowerCase();
  if (origin.startsWith('*.')) fail(1420);
  if (origin !== zone.name && !origin.endsWith(`.${zone.name}`)) fail(1421);
  call.world.items.put({ kind: 'origin', projectId: zone.project.id, name: zone.name, data: { origin } });
  return ok(await originOf(call, zone));
}

async function removeOrigin(call: Call): Promise<Reply> {
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
  operation('customHostnames.fallbackOrigin.update', `PUT ${PATH}`, putOrigin, { input: originInput }),
  operation('customHostnames.fallbackOrigin.delete', `DELETE ${PATH}`, removeOrigin),
];

import { z } from 'zod';
import { missing, operation } from '../operations.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import { addZone, dropZone } from '../zones.ts';
import { accountIdOf, idOf, matches, ok, page, serversFor, type Zone, zoneIn, zonesOf, zoneStatus } from './account.ts';
import { fail } from './codes.ts';

const creation = z.object({ name: z.string().max(1_000), type: z.string().optional() });

const accountShown = ({ account }: Call) => ({
  id: accountIdOf(account),
  name: account.projects[0]?.name ?? '',
  type: 'standard',
  settings: { enforce_twofactor: false },
  created_on: new Date(0).toISOString(),
});

/** A zone as the API shows it. */
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
  const found = zonesOf(call).filter(({ name }) => isAsked && matches(query, 'name', name));
  const sign = query.get('direction') === 'desc' ? -1 : 1;
  if (query.get('order') === 'name') found.sort((one, other) => sign * (one.name < other.name ? -1 : 1));
  const all = await Promise.all(found.map((zone) => shown(call, zone)));
  return page(
    all.filter(({ status }) => matches(query, 'status', status)),
    query,
    50,
  );
}

/** Adds a zone; its records are at Cloudflare once it has the name servers that the answer names. */
async function create(call: Call): Promise<Reply> {
  const { name: given, type } = call.body as z.infer<typeof creation>;
  const { world, account } = call;
  if (type === 'partial') fail(1104);
  const read = world.hostname(given);
  if ('fault' in read) return fail(1099, read.fault, given);
  const { hostname: name } = read;
  if (name !== read.apex) fail(1116);
  if (zonesOf(call).some((zone) => zone.name === name)) fail(1061, undefined, name);
  const [project] = account.projects;
  if (project === undefined) return fail(9109);
  await addZone(call, project.id, name, serversFor(project));
  return ok(await shown(call, zoneIn({ ...call, params: { zone_id: idOf(name) } })));
}

async function remove(call: Call): Promise<Reply> {
  const { id, servers, added } = zoneIn(call);
  if (added === null) return fail(1097);
  await dropZone(call, added, servers);
  return ok({ id });
}

const ROOT = '/client/v4';
export const ZONE = `${ROOT}/zones/{zone_id}`;

export const ZONES: readonly Operation[] = [
  operation('zones.list', `GET ${ROOT}/zones`, list),
  operation('zones.create', `POST ${ROOT}/zones`, create, { input: creation }),
  operation('zones.get', `GET ${ZONE}`, async (call) => ok(await shown(call, zoneIn(call)))),
  operation('zones.delete', `DELETE ${ZONE}`, remove),
  missing('zones.edit', `PATCH ${ZONE}`, 'A local zone cannot be paused, and has one type.'),
  operation('zones.activationCheck.trigger', `PUT ${ZONE}/activation_check`, (call) => ok({ id: zoneIn(call).id })),
  operation('accounts.list', `GET ${ROOT}/accounts`, (call) => page([accountShown(call)], call.query, 50)),
  operation('user.tokens.verify', `GET ${ROOT}/user/tokens/verify`, ({ account }) =>
    ok({ id: accountIdOf(account), status: 'active' }, 200, {
      messages: [{ code: 10_000, message: 'This API Token is valid and active', type: null }],
    }),
  ),
];

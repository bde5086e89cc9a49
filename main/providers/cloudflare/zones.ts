import { z } from 'zod';
import { type Call, CONTEXT, type Operation, type Reply } from '../provider.ts';
import { accountIdOf, matches, ok, page, type Zone, zoneIn, zonesOf } from './account.ts';
import { fail } from './codes.ts';

const creation = z.object({ name: z.string().max(1_000), type: z.string().optional() });

const accountShown = ({ account }: Call) => ({
  id: accountIdOf(account),
  name: account.projects[0]?.name ?? '',
  type: 'standard',
  settings: { enforce_twofactor: false },
  created_on: new Date(0).toISOString(),
});

/** A zone as the API shows it. All answer from this DNS server, so all are active. */
async function shown(call: Call, { id, name, createdAt }: Zone) {
  const servers = await call.world.resolve(name, 'NS');
  const { settings: _, created_on: madeAt, ...account } = accountShown(call);
  const at = createdAt ?? madeAt;
  return {
    ...{ id, name, status: 'active', paused: false, type: 'full', development_mode: 0 },
    name_servers: servers.map((server) => server.replace(/\.$/, '')),
    ...{ original_name_servers: null, original_registrar: null, original_dnshost: null },
    ...{ created_on: at, modified_on: at, activated_on: at },
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
  const found = (await zonesOf(call)).filter(
    ({ name }) => isAsked && matches(query, 'name', name) && matches(query, 'status', 'active'),
  );
  const sign = query.get('direction') === 'desc' ? -1 : 1;
  if (query.get('order') === 'name') found.sort((one, other) => sign * (one.name < other.name ? -1 : 1));
  return page(await Promise.all(found.map((zone) => shown(call, zone))), query, 50);
}

async function create(call: Call): Promise<Reply> {
  const { name } = call.body as z.infer<typeof creation>;
  const before = await zonesOf(call);
  if (before.some((zone) => zone.name === name.toLowerCase())) fail(1061);
  const { name: made } = await call.world.services.zones.create({ name, supportsAlias: true }, CONTEXT);
  const zone = (await zonesOf(call)).find((each) => each.name === made);
  return ok(zone === undefined ? null : await shown(call, zone));
}

async function remove(call: Call): Promise<Reply> {
  const { id, name, createdAt } = await zoneIn(call);
  if (createdAt === null) fail(1097);
  await call.world.services.zones.remove({ name }, CONTEXT);
  return ok({ id });
}

const ROOT = '/client/v4';
export const ZONE = `${ROOT}/zones/{zone_id}`;

export const ZONES: readonly Operation[] = [
  { name: 'zones.list', method: 'GET', path: `${ROOT}/zones`, handle: list },
  { name: 'zones.create', method: 'POST', path: `${ROOT}/zones`, input: creation, handle: create },
  { name: 'zones.get', method: 'GET', path: ZONE, handle: async (call) => ok(await shown(call, await zoneIn(call))) },
  { name: 'zones.delete', method: 'DELETE', path: ZONE, handle: remove },
  {
    name: 'zones.edit',
    method: 'PATCH',
    path: ZONE,
    missing: 'A local zone cannot be paused, and has one type.',
    handle: () => ok(null, 501),
  },
  {
    name: 'zones.activationCheck.trigger',
    method: 'PUT',
    path: `${ZONE}/activation_check`,
    handle: async (call) => ok({ id: (await zoneIn(call)).id }),
  },
  {
    name: 'accounts.list',
    method: 'GET',
    path: `${ROOT}/accounts`,
    handle: (call) => page([accountShown(call)], call.query, 50),
  },
  {
    name: 'user.tokens.verify',
    method: 'GET',
    path: `${ROOT}/user/tokens/verify`,
    handle: ({ account }) =>
      ok({ id: accountIdOf(account), status: 'active' }, 200, {
        messages: [{ code: 10_000, message: 'This API Token is valid and active', type: null }],
      }),
  },
];

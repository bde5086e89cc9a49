import { hash } from 'node:crypto';
import { z } from 'zod';
import { uuidOf } from '../../base/text/uuid.ts';
import { leadsHere } from '../domains.ts';
import { CONTEXT, type ProviderItem, type ProviderProject } from '../facts.ts';
import { NO_UPLOAD, operation, refuse } from '../operations.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import { type Code, fail, idOf, matches, ok, ownZoneOf, page, type Zone, zoneIn } from './account.ts';
import { isOrigin, originFault, ZONE } from './zones.ts';
import { certificateStatus, type Facts, hostnameStatus, validationErrors, verificationErrors } from './status.ts';

/** Those that Cloudflare includes; here the zone has no more. */
export const HOSTNAMES_MAX = 100;

const text = z.string().max(1_000);
const ssl = z.looseObject({
  method: text.optional(),
  type: text.optional(),
  bundle_method: text.optional(),
  certificate_authority: text.nullish(),
  wildcard: z.boolean().nullish(),
  settings: z.looseObject({}).optional(),
});
const change = z.object({
  ssl: ssl.nullish(),
  custom_metadata: z.record(text, text).nullish(),
  custom_origin_server: text.nullish(),
  custom_origin_sni: text.nullish(),
});
const creation = change.extend({ hostname: text.min(1) });
type Wanted = z.infer<typeof change>;

/** Of a hostname that was attached in another way. */
const USUAL = { method: 'http', type: 'dv' };

/** What is kept beside a domain or a claim. */
const kept = change.extend({
  zone: z.string(),
  sinceMs: z.number(),
  refreshedAtMs: z.number().default(0),
});
type Kept = z.infer<typeof kept>;

/** A custom hostname: attached, or claimed while another account has it; `held` is null for a claim. */
type CustomHostname = Awaited<ReturnType<typeof hostnamesOf>>[number];

const SSL_VALUES: readonly { field: string; values: readonly string[]; code: Code }[] = [
  { field: 'method', values: ['http', 'txt', 'email'], code: 1432 },
  { field: 'type', values: ['dv'], code: 1433 },
  { field: 'bundle_method', values: ['ubiquitous', 'optimal', 'force'], code: 1449 },
  { field: 'settings.http2', values: ['on', 'off'], code: 1422 },
  { field: 'settings.tls_1_3', values: ['on', 'off'], code: 1424 },
  { field: 'settings.min_tls_version', values: ['1.0', '1.1', '1.2', '1.3'], code: 1425 },
];

/** What is wrong with the settings is refused by the code that is documented for it. */
async function check(call: Call, zone: Zone, { ssl: own, custom_origin_server: origin }: Wanted): Promise<void> {
  const settings = {
    ...own,
    ...Object.fromEntries(Object.entries(own?.settings ?? {}).map(([k, v]) => [`settings.${k}`, v])),
  };
  for (const { field, values, code } of SSL_VALUES) {
    const value = settings[field];
    if (value !== undefined && !values.includes(String(value))) fail(code);
  }
  if (own && (own.method === undefined) !== (own.type === undefined)) fail(1440);
  if (own && ['custom_certificate', 'custom_key', 'custom_csr_id', 'custom_cert_bundle'].some((name) => name in own))
    refuse(501, 'not_emulated', NO_UPLOAD);
  if (typeof origin !== 'string' || origin === '') return;
  if (origin.startsWith('*.')) fail(1420);
  if (!(await isOrigin(call, zone, origin))) fail(1421);
}

function hostnameOf({ world }: Call, given: string): string {
  if (/[^ -~]/.test(given)) return fail(1408);
  if (given.startsWith('*.')) return fail(1448);
  if (/(?:^|\.)example\.(?:com|net|org)$/i.test(given)) return fail(1411);
  return world.hostname(given, (fault) => fail(1407, fault)).hostname;
}

/** The custom hostnames of a zone, oldest first. Claims whose proof is visible by now are attached before, except for a question. */
async function hostnamesOf(call: Call, zone: Zone) {
  const { world } = call;
  const { project } = zone;
  for (const { claim } of call.isQuestion === true ? [] : world.hostnamesOf(project))
    if (claim !== null) await settle(call, zone, claim);
  const extras = world.extrasOf(project);
  const all = world.hostnamesOf(project).map(({ hostname, createdAtMs, claim }) => {
    const usual = { zone: ownZoneOf(project), sinceMs: createdAtMs, refreshedAtMs: 0, ssl: USUAL };
    const own: Kept = kept.safeParse(claim?.data ?? extras.get(hostname)).data ?? usual;
    return { hostname, own, claim, held: claim === null ? world.held(hostname) : null };
  });
  const withWildcard = all.filter(({ own, claim }) => claim === null && own.ssl?.wildcard === true);
  const wildcards = new Set(withWildcard.map(({ hostname }) => `*.${hostname}`));
  return all
    .filter(({ hostname, own }) => own.zone === zone.name && !wildcards.has(hostname))
    .sort((one, other) => one.own.sinceMs - other.own.sinceMs);
}

/** Attaches a claimed hostname once its TXT record is visible, or its records lead here. */
async function settle(call: Call, { project }: Zone, claim: ProviderItem): Promise<void> {
  const { world } = call;
  const { name: hostname } = claim;
  if (!(await world.isProven(world.proof(project, hostname))) && !(await leadsToOwnZone(call, project, hostname)))
    return;
  await world.settle(project, hostname, () => world.keepExtra(project, hostname, claim.data));
}

/** Whether a CNAME proves that a hostname is the project's. Addresses, and a target of all projects, prove nothing. */
async function leadsToOwnZone({ world }: Call, project: ProviderProject, hostname: string): Promise<boolean> {
  if (world.hostname(hostname).apex === hostname) return false;
  if ((await world.target(project)).name !== ownZoneOf(project)) return false;
  const { checks } = await world.look(project.id, hostname);
  return leadsHere(checks) && checks.every(({ code }) => code !== 'proxied');
}

const hostnameId = ({ project }: Zone, { hostname, own }: CustomHostname): string =>
  uuidOf(`${project.id} ${hostname} ${own.sinceMs}`);

/** The records and the file that validate a certificate apart from the hostname. */
function validation({ id: zoneId, project }: Zone, hostname: string) {
  const token = hash('sha256', `${project.id} certificate ${hostname}`, 'base64url');
  const name = `_acme-challenge.${hostname}`;
  return {
    txt: { txt_name: name, txt_value: token },
    http: { http_url: `http://${hostname}/.well-known/acme-challenge/${token.slice(0, 32)}`, http_body: token },
    delegation: { cname: name, cname_target: `${hostname}.${idOf(zoneId).slice(0, 16)}.dcv.cloudflare.com` },
  };
}

/** Whether a certificate's own TXT record or delegation is visible. */
async function isValidated({ world }: Call, zone: Zone, hostname: string): Promise<boolean> {
  const { txt, delegation } = validation(zone, hostname);
  const found = await Promise.all([
    world.isProven({ name: txt.txt_name, value: txt.txt_value }),
    world.isProven({ name: delegation.cname, value: delegation.cname_target }, 'CNAME'),
  ]);
  return found.includes(true);
}

/** The certificate as the API shows it. A wildcard is never validated over HTTP. */
async function certificate(call: Call, zone: Zone, found: CustomHostname, facts: Facts | null) {
  const { hostname, own } = found;
  const wanted = own.ssl ?? {};
  const { method = 'http' } = wanted;
  const wildcard = wanted.wildcard === true;
  const isHere = facts !== null && !wildcard && leadsHere(facts.domain.checks);
  const isValid = facts !== null && (isHere || (await isValidated(call, zone, hostname)));
  const status = facts === null ? 'pending_validation' : certificateStatus(facts, isValid);
  const errors = facts === null ? [] : validationErrors(facts.domain);
  const { txt, http, delegation } = validation(zone, hostname);
  const notAfter = facts?.domain.certificate.notAfter;
  return {
    ...{ id: uuidOf(`certificate ${hostnameId(zone, found)}`), type: 'dv', method, status, wildcard },
    bundle_method: wanted.bundle_method ?? 'ubiquitous',
    certificate_authority: wanted.certificate_authority ?? '',
    settings: { min_tls_version: '1.0', ...wanted.settings },
    ...(notAfter !== undefined && {
      hosts: wildcard ? [hostname, `*.${hostname}`] : [hostname],
      ...{ issuer: 'Vivarium', expires_on: notAfter },
    }),
    ...(status !== 'active' && {
      validation_records: [{ status: 'pending', ...(method === 'http' && !wildcard ? http : txt) }],
    }),
    ...(errors.length > 0 && { validation_errors: errors.map((message) => ({ message })) }),
    dcv_delegation_records: [delegation],
  };
}

/** A custom hostname as the API shows it; proofs only until they are needed no more. */
async function shown(call: Call, zone: Zone, found: CustomHostname, origin: string | null) {
  const { world } = call;
  const { hostname, own, held } = found;
  const facts = held && {
    ...{ held, domain: await world.services.domains.get({ hostname }, CONTEXT) },
    nowMs: world.now(),
    refreshedAtMs: own.refreshedAtMs,
    origin,
  };
  const status = facts === null ? 'pending' : hostnameStatus(facts);
  const isPending = facts === null || facts.domain.state !== 'verified';
  const checks = facts?.domain.checks ?? (await world.look(zone.project.id, hostname)).checks;
  const errors = [...(origin === null ? [] : [origin]), ...(isPending ? verificationErrors(checks) : [])];
  const id = hostnameId(zone, found);
  const { name, value } = world.proof(zone.project, hostname);
  const url = `http://${hostname}/.well-known/cf-custom-hostname-challenge/${id}`;
  return {
    ...{ id, hostname, status },
    ...(own.ssl && { ssl: await certificate(call, zone, found, facts) }),
    ...(own.custom_metadata && { custom_metadata: own.custom_metadata }),
    ...(own.custom_origin_server && { custom_origin_server: own.custom_origin_server }),
    ...(own.custom_origin_sni && { custom_origin_sni: own.custom_origin_sni }),
    ...(status !== 'active' && {
      ...(errors.length > 0 && { verification_errors: errors }),
      ownership_verification: { type: 'txt', name, value },
      ownership_verification_http: { http_url: url, http_body: value },
    }),
    created_at: new Date(own.sinceMs).toISOString(),
  };
}

/** The custom hostname of `{custom_hostname_id}`. */
async function existing(call: Call, zone: Zone): Promise<CustomHostname> {
  const { custom_hostname_id: id = '' } = call.params;
  if (!/^[\da-f-]{32,36}$/i.test(id)) return fail(1435);
  return (await hostnamesOf(call, zone)).find((found) => hostnameId(zone, found) === id) ?? fail(1436);
}

async function answer(call: Call, zone: Zone, hostname: string, status: number): Promise<Reply> {
  const found = (await hostnamesOf(call, zone)).find((each) => each.hostname === hostname) ?? fail(1436);
  return ok(await shown(call, zone, found, await originFault(call, zone)), status);
}

/** Attaches the wildcard of a certificate that has one, and removes one that it no longer has. */
async function setWildcard({ world }: Call, { project }: Zone, hostname: string, isWanted: boolean): Promise<void> {
  const wildcard = `*.${hostname}`;
  const held = world.held(wildcard);
  if (isWanted && held === null) world.attach(project.id, wildcard);
  if (!isWanted && held?.projectId === project.id) await world.services.domains.remove({ hostname: wildcard }, CONTEXT);
}

async function create(call: Call, { hostname: given, ...wanted }: z.infer<typeof creation>): Promise<Reply> {
  const { world } = call;
  const zone = zoneIn(call);
  const { project } = zone;
  const hostname = hostnameOf(call, given);
  await check(call, zone, wanted);
  if ((await hostnamesOf(call, zone)).length >= HOSTNAMES_MAX) fail(1405);
  const holder = world.held(hostname);
  if (holder?.projectId === project.id || world.claimOf(project, hostname) !== null) fail(1406);
  const data = { ...wanted, zone: zone.name, sinceMs: world.now() };
  if (holder !== null) {
    world.items.put({ kind: 'claim', projectId: project.id, name: hostname, data });
    return await answer(call, zone, hostname, 201);
  }
  world.attach(project.id, hostname);
  world.keepExtra(project, hostname, data);
  if (wanted.ssl?.wildcard === true) await setWildcard(call, zone, hostname, true);
  const reply = await answer(call, zone, hostname, 201);
  world.beginCheck(hostname);
  return reply;
}

/** Changes what is kept; with `ssl`, the hostname and its certificate are validated again. */
async function edit(call: Call, wanted: Wanted): Promise<Reply> {
  const { world } = call;
  const zone = zoneIn(call);
  const { hostname, own, claim } = await existing(call, zone);
  await check(call, zone, wanted);
  const before = own.ssl ?? {};
  const data = {
    ...own,
    ...wanted,
    ...(wanted.ssl && { ssl: { ...before, ...wanted.ssl, settings: { ...before.settings, ...wanted.ssl.settings } } }),
    refreshedAtMs: wanted.ssl ? world.now() : own.refreshedAtMs,
  };
  if (claim !== null) world.items.put({ kind: 'claim', projectId: zone.project.id, name: hostname, data });
  else {
    world.keepExtra(zone.project, hostname, data);
    if (typeof wanted.ssl?.wildcard === 'boolean') await setWildcard(call, zone, hostname, wanted.ssl.wildcard);
    if (wanted.ssl) await world.verify(hostname);
  }
  return await answer(call, zone, hostname, 202);
}

async function remove(call: Call): Promise<Reply> {
  const zone = zoneIn(call);
  const found = await existing(call, zone);
  const { hostname, own, claim } = found;
  if (claim === null && own.ssl?.wildcard === true) await setWildcard(call, zone, hostname, false);
  await call.world.removeHostname(zone.project, found);
  return { status: 200, body: { id: hostnameId(zone, found) } };
}

async function list(call: Call): Promise<Reply> {
  const { query } = call;
  const names = [...query.keys()].filter((key) => key === 'hostname' || key.startsWith('hostname.'));
  if (query.has('id') && names.length > 0) fail(1438);
  const zone = zoneIn(call);
  const [found, origin] = await Promise.all([hostnamesOf(call, zone), originFault(call, zone)]);
  const all = await Promise.all(
    found.filter(({ hostname }) => matches(query, { hostname })).map((each) => shown(call, zone, each, origin)),
  );
  const wanted = all.filter(({ id, status, ssl, custom_origin_server = '' }) =>
    matches(query, {
      ...{ id, hostname_status: status, ssl_status: ssl?.status ?? '', ssl: ssl === undefined ? '0' : '1' },
      ...{ wildcard: String(ssl?.wildcard ?? false), certificate_authority: ssl?.certificate_authority ?? '' },
      custom_origin_server,
    }),
  );
  if (query.has('order')) wanted.sort((one, other) => ((one.ssl?.status ?? '') < (other.ssl?.status ?? '') ? -1 : 1));
  return page(query.get('direction') === 'desc' ? wanted.toReversed() : wanted, query, 50);
}

const ALL = `${ZONE}/custom_hostnames`;
const ONE = `${ALL}/{custom_hostname_id}`;

export const HOSTNAMES: readonly Operation[] = [
  operation('customHostnames.create', `POST ${ALL}`, create, { input: creation }),
  operation('customHostnames.list', `GET ${ALL}`, list),
  operation('customHostnames.get', `GET ${ONE}`, async (call) => {
    const zone = zoneIn(call);
    return ok(await shown(call, zone, await existing(call, zone), await originFault(call, zone)));
  }),
  operation('customHostnames.edit', `PATCH ${ONE}`, edit, { input: change }),
  operation('customHostnames.delete', `DELETE ${ONE}`, remove),
  operation('customHostnames.quota.get', `GET ${ALL}/quota`, async (call) => {
    const used = (await hostnamesOf(call, zoneIn(call))).length;
    return ok({ allocated: HOSTNAMES_MAX, used, hard_cap: HOSTNAMES_MAX, exceeded: used > HOSTNAMES_MAX });
  }),
];

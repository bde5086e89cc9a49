import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Domain } from '../../contract/domains.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import { cursorOf, failedOf, leadsHere, pageAfter } from '../domains.ts';
import { CONTEXT, type ProviderProject } from '../facts.ts';
import { missing, NO_UPLOAD, ok, operation, refuse } from '../operations.ts';
import type { Call, Operation, Provider, Refusal, Reply } from '../provider.ts';

const PAGE_DEFAULT = 100;
const PAGE_MAX = 500;

const request = z.object({ hostname: z.string().min(1).max(1_000) });

function appIn({ account, params }: Call): ProviderProject {
  const { app_name: name = '' } = params;
  return account.projects.find(({ slug, id }) => slug === name || id === name) ?? refuse(404, '', 'App not found');
}

const hostnameOf = ({ world }: Call, text: string): string =>
  world.hostname(text, (fault) => refuse(422, '', `Hostname is invalid. ${fault}`)).hostname;

/** A hostname of an app: attached, or claimed while another app has it; `domain` is null for a claim. */
type Found = NonNullable<Awaited<ReturnType<typeof find>>>;

async function find(call: Call, app: ProviderProject, hostname: string) {
  const { world } = call;
  const claim = world.claimOf(app, hostname);
  if (claim !== null) return { app, hostname, claim, domain: null };
  if (world.held(hostname)?.projectId !== app.id) return null;
  return { app, hostname, claim, domain: await world.services.domains.get({ hostname }, CONTEXT) };
}

/** The hostname of `{hostname}`. A claim that is proven by now is attached before, except for a question. */
async function existing(call: Call): Promise<Found> {
  const app = appIn(call);
  const hostname = hostnameOf(call, call.params['hostname'] ?? '');
  const found = (await find(call, app, hostname)) ?? refuse(404, '', 'Certificate not found');
  if (found.claim === null || call.isQuestion === true || !(await isOwned(call, found))) return found;
  await call.world.settle(app, hostname);
  return (await find(call, app, hostname)) ?? found;
}

/** By the TXT record, or by a CNAME to the app. The addresses are those of all apps, and prove nothing. */
async function isOwned({ world }: Call, { app, hostname }: Found): Promise<boolean> {
  if (await world.isProven(world.proof(app, hostname))) return true;
  return await world.isProven({ name: hostname, value: (await world.target(app)).name }, 'CNAME');
}

/** The delegation by which a certificate can be validated without traffic; a wildcard's is beside it. */
function challengeOf({ app, hostname }: Found): { name: string; target: string } {
  const base = hostname.replace(/^\*\./, '');
  const id = hash('sha256', `${app.id} ${base}`).slice(0, 5);
  return { name: `_acme-challenge.${base}`, target: `${base}.${id}.flydns.net` };
}

type Status = 'active' | 'pending_ownership' | 'pending_validation';

/** What DNS and the certificate of a hostname say. */
async function factsOf(call: Call, found: Found) {
  const { world } = call;
  const { app, hostname, domain } = found;
  const challenge = challengeOf(found);
  const proof = world.proof(app, hostname);
  const [{ checks }, target, isDelegated, hasText, owned] = await Promise.all([
    domain === null ? world.look(app.id, hostname) : domain,
    world.target(app),
    world.isProven({ name: challenge.name, value: challenge.target }, 'CNAME'),
    world.isProven(proof),
    isOwned(call, found),
  ]);
  const isHere = leadsHere(checks);
  const isIssued = domain?.certificate.state === 'issued' && (!isWildcard(hostname) || isDelegated);
  const status: Status = isIssued ? 'active' : isHere && !owned ? 'pending_ownership' : 'pending_validation';
  return {
    ...{ checks, target, challenge, proof, hasText, isDelegated, isHere, isIssued },
    isConfigured: isHere && owned,
    // Another app has the hostname.
    status: domain === null ? ('pending_ownership' as const) : status,
  };
}

async function issuedOf(call: Call, domain: Domain, status: Status) {
  const found = await call.world.certificateOf(domain);
  if (found === null) return [];
  const { notBefore, notAfter } = found;
  const issued = [{ type: 'ecdsa', expires_at: notAfter, certificate_authority: 'vivarium' }];
  return [{ source: 'fly', status, created_at: notBefore, expires_at: notAfter, issuer: null, issued }];
}

async function detail(call: Call, found: Found) {
  const { hostname, domain } = found;
  const { checks, target, challenge, proof, ...facts } = await factsOf(call, found);
  const timestamp = domain?.lastCheckedAt ?? new Date(call.world.now()).toISOString();
  return {
    ...{ hostname, configured: facts.isConfigured, acme_requested: true, status: facts.status },
    rate_limited_until: null,
    certificates: domain === null ? [] : await issuedOf(call, domain, facts.status),
    validation: {
      ...{ dns_configured: facts.isDelegated, alpn_configured: facts.isHere, http_configured: facts.isHere },
      ownership_txt_configured: facts.hasText,
    },
    dns_requirements: {
      ...{ a: target.addresses, aaaa: [], cname: target.name, acme_challenge: challenge },
      ownership: { name: proof.name, app_value: proof.value, org_value: proof.value },
    },
    validation_errors: failedOf(checks).map(({ words, message, fix }) => ({
      ...{ code: null, message: words ?? message, timestamp },
      ...(fix !== undefined && { remediation: fix }),
    })),
  };
}

async function create(call: Call, wanted: z.infer<typeof request>): Promise<Reply> {
  const { world } = call;
  const app = appIn(call);
  const hostname = hostnameOf(call, wanted.hostname);
  if ((await find(call, app, hostname)) !== null) refuse(422, '', 'Hostname already exists on app');
  const isTaken = world.held(hostname) !== null;
  if (isTaken) world.items.put({ kind: 'claim', projectId: app.id, name: hostname, data: {} });
  else world.attach(app.id, hostname);
  const found = (await find(call, app, hostname)) ?? refuse(404, '', 'Certificate not found');
  const body = await detail(call, found);
  if (!isTaken) world.beginCheck(hostname);
  return ok(body, 201);
}

const show: Operation['handle'] = async (call) => ok(await detail(call, await existing(call)));

/** Checks now; the answer also has the records that were found. */
async function check(call: Call): Promise<Reply> {
  const { world } = call;
  const { app, hostname, claim } = await existing(call);
  if (claim === null) await world.verify(hostname);
  const found = await existing(call);
  const { challenge, proof } = await factsOf(call, found);
  const [addresses, cname, [soa], [delegated], [text]] = await Promise.all([
    world.resolve(hostname, 'A'),
    world.resolve(hostname, 'CNAME'),
    world.resolve(world.hostname(hostname).apex, 'NS'),
    world.resolve(challenge.name, 'CNAME'),
    world.resolve(proof.name, 'TXT'),
  ]);
  const dns_records = {
    ...{ a: cname.length === 0 ? addresses : [], aaaa: [], cname, resolved_addresses: addresses },
    ...{ soa: soa ?? null, acme_challenge_cname: delegated ?? null, ownership_txt: text ?? null },
  };
  return ok({ ...(await detail(call, { ...found, app })), dns_records });
}

async function remove(call: Call): Promise<Reply> {
  const found = await existing({ ...call, isQuestion: true });
  await call.world.removeHostname(found.app, found);
  return ok('', 204);
}

async function summary(call: Call, found: Found, createdAtMs: number) {
  const { hostname, domain } = found;
  const { status, isDelegated, isHere, isConfigured, hasText, isIssued } = await factsOf(call, found);
  const createdAt = new Date(createdAtMs).toISOString();
  return {
    ...{ hostname, status, configured: isConfigured, acme_requested: true },
    ...{ acme_dns_configured: isDelegated, acme_alpn_configured: isHere, acme_http_configured: isHere },
    ...{ ownership_txt_configured: hasText, has_custom_certificate: false, has_fly_certificate: isIssued },
    ...{ created_at: createdAt, updated_at: domain?.lastCheckedAt ?? createdAt },
  };
}

/** The last page has no cursor. */
async function list(call: Call): Promise<Reply> {
  const { query } = call;
  const app = appIn(call);
  const all = call.world.hostnamesOf(app).filter(({ hostname }) => hostname.includes(query.get('filter') ?? ''));
  const { page, hasMore } = pageAfter(all, ({ hostname }) => hostname, {
    ...{ query, usual: PAGE_DEFAULT, max: PAGE_MAX },
    refuse: (name) => refuse(400, '', `${name} is invalid`),
  });
  const certificates: unknown[] = [];
  for (const { hostname, createdAtMs } of page) {
    const found = await find(call, app, hostname);
    if (found !== null) certificates.push(await summary(call, found, createdAtMs));
  }
  const next = hasMore ? { next_cursor: cursorOf(page.at(-1)?.hostname ?? '') } : {};
  return ok({ certificates, ...next, total_count: all.length });
}

const ALWAYS = 'A hostname that leads here always has a certificate of Vivarium’s root.';

const ALL = '/v1/apps/{app_name}/certificates';
const ONE = `${ALL}/{hostname}`;

export const CERTIFICATES: readonly Operation[] = [
  operation('App_Certificates_list', `GET ${ALL}`, list, { limit: 'list' }),
  operation('App_Certificates_acme_create', `POST ${ALL}/acme`, create, { input: request, limit: 'create' }),
  missing('App_Certificates_custom_create', `POST ${ALL}/custom`, NO_UPLOAD),
  operation('App_Certificates_show', `GET ${ONE}`, show, { limit: 'show' }),
  operation('App_Certificates_check', `POST ${ONE}/check`, check, { limit: 'check' }),
  operation('App_Certificates_delete', `DELETE ${ONE}`, remove, { limit: 'delete' }),
  missing('App_Certificates_acme_delete', `DELETE ${ONE}/acme`, ALWAYS),
  missing('App_Certificates_custom_delete', `DELETE ${ONE}/custom`, NO_UPLOAD),
];

const MACHINES = 'https://api.machines.dev';

const perSecond = (count: number) => ({ perMinute: 60 * count, perDay: Infinity });

/** `{"error"}`; `status` names what programs tell apart (superfly/fly-go, `flaps_error.go`). */
const failure = ({ status, code, message, more }: Refusal): Reply => ({
  status,
  body: { error: message, ...(code === 'not_emulated' && { status: code, ...more }) },
});

/** Fly’s certificates, by superfly/docs and superfly/fly-go of August 2026, and the Machines API’s specification. */
export const FLY: Provider = {
  id: 'fly',
  credentials: ['authorization'],
  variables: {
    token: ['FLY_API_TOKEN', 'FLY_ACCESS_TOKEN'],
    ids: ({ projects: [{ slug }] }) => ({
      ...{ FLY_APP_NAME: slug, FLY_APP: slug, FLY_API_HOSTNAME: MACHINES, FLY_FLAPS_BASE_URL: MACHINES },
    }),
    unset: ['FLY_API_KEY', 'FLY_AUTH_TOKEN', 'FLY_METRICS_TOKEN'],
  },
  operations: CERTIFICATES,
  asks: ({ slug }, hostname) => [{ name: 'App_Certificates_show', params: { app_name: slug, hostname } }],
  // superfly/docs, `working-with-machines-api`: a request a second for each action, five for reads.
  limits: {
    ...{ default: perSecond(1), list: perSecond(1), create: perSecond(1), check: perSecond(1), delete: perSecond(1) },
    show: perSecond(5),
  },
  refusals: {
    missing_token: { status: 401, message: 'Authenticate: token validation error' },
    wrong_token: { status: 401, message: 'Authenticate: token validation error. …' },
  },
  failure,
  rateFields: () => [],
  unsettled: [
    'The rate limits are published for Machines: one request a second for each action, five for reads, with bursts. Here 60 a minute for each action on certificates, and 300 for one certificate’s details. There are no rate headers; a 429 has `Retry-After`.',
    'A hostname that another app has: 201 and `pending_ownership`, until the TXT record is visible or a CNAME leads to the app; then it is moved. The same hostname twice on one app: 422, as the API words it.',
    '`pending_ownership` of a hostname of the app’s own: its records lead here by addresses, which are those of all apps here, and neither the TXT record nor a CNAME says whose it is. There are no IPv6 addresses of one app, by which Fly recognises it too.',
    '`org_value` is the same as `app_value`, as either proves the same.',
    '`alpn_configured` and `http_configured` say whether the records lead here; `dns_configured` whether the delegation is visible. Only a wildcard needs the delegation; it gives no certificate before the records lead here.',
    '`validation_errors` have no `code`; their messages are the authority’s for CAA, else Vivarium’s.',
    '`rate_limited_until` is always null: Vivarium’s authority has no limit for hostnames of projects. `dns_provider` is absent.',
    'The certificate authority is `vivarium`, where Fly has `lets_encrypt`.',
    'The page size of the list: 100, and 500 at most. A cursor is a hostname.',
    'The words of 404 for an app and a certificate, and of 422 for a text that is no hostname.',
  ],
};

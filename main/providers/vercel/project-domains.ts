import { z } from 'zod';
import { ownsProject } from '../domains.ts';
import { CONTEXT, type ProviderProject } from '../facts.ts';
import { ok, operation, refuse } from '../operations.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import { hostnameOf, isForeign, missingTxt, pageOf, projectOf } from './account.ts';

/** Vercel redirects with 307 where no status is given. */
const REDIRECT_STATUS = 307;

const redirectFields = {
  redirect: z.string().nullish(),
  redirectStatusCode: z.literal([301, 302, 307, 308]).nullish(),
  gitBranch: z.string().max(250).nullish(),
};
const addition = z.object({
  name: z.string().max(1_000),
  customEnvironmentId: z.string().optional(),
  ...redirectFields,
});
const change = z.object(redirectFields);
const move = z.object({ projectId: z.string(), ...redirectFields });
const removal = z.object({ removeRedirects: z.boolean().optional() });

type Wanted = z.infer<typeof change>;

/** A hostname of a project: attached, or claimed and not yet proven. */
type Found = ReturnType<typeof existing>;

function existing(call: Call, { idOrName = '', domain = '' } = call.params) {
  const project = projectOf(call, idOrName);
  const { hostname, apex } = hostnameOf(call, domain);
  const found = call.world.hostnamesOf(project).find((each) => each.hostname === hostname);
  return found === undefined
    ? refuse(404, 'not_found', `The domain "${domain}" is not assigned to the project.`)
    : { ...found, project, apex };
}

/** What a project’s domains have beside their names: read once for all that are shown. */
async function besides({ world }: Call, project: ProviderProject) {
  const { redirects } = await world.services.domains.export({ projectId: project.id }, CONTEXT);
  return { redirects, extras: world.extrasOf(project) };
}
type Besides = Awaited<ReturnType<typeof besides>>;

async function shown(call: Call, found: Found, beside?: Besides) {
  const { project, hostname, apex, createdAtMs: createdAt, claim } = found;
  const own = beside ?? (await besides(call, project));
  const extra = claim?.data ?? own.extras.get(hostname) ?? {};
  const redirect =
    claim === null
      ? own.redirects.find(({ from }) => from === hostname)
      : { to: extra['redirect'], status: extra['redirectStatusCode'] };
  const proof = call.world.proof(project, hostname);
  const challenge = { type: 'TXT', domain: proof.name, value: proof.value, reason: 'pending_domain_verification' };
  return {
    name: hostname,
    apexName: apex,
    projectId: project.id,
    redirect: (redirect?.to as string | undefined) ?? null,
    redirectStatusCode: (redirect?.status as number | undefined) ?? null,
    gitBranch: (extra['gitBranch'] as string | undefined) ?? null,
    customEnvironmentId: null,
    updatedAt: Number(extra['updatedAt'] ?? createdAt),
    createdAt,
    verified: claim === null,
    ...(claim !== null && { verification: [challenge] }),
  };
}

export async function shownOf(call: Call, project: ProviderProject) {
  const found = call.world.hostnamesOf(project);
  const beside = await besides(call, project);
  const apexOf = (name: string): string => hostnameOf(call, name).apex;
  return Promise.all(found.map((each) => shown(call, { ...each, project, apex: apexOf(each.hostname) }, beside)));
}

/** Sets the redirect and the branch of an attached hostname; null clears, and what is absent stays. */
async function apply(call: Call, found: Found, { redirect, redirectStatusCode, gitBranch }: Wanted): Promise<void> {
  const { world } = call;
  const { project, hostname } = found;
  check(call, project, hostname, { redirect, redirectStatusCode, gitBranch });
  const own = await besides(call, project);
  if (redirect !== undefined || redirectStatusCode !== undefined) {
    const before = own.redirects;
    const former = before.find(({ from }) => from === hostname);
    const to = redirect === undefined ? former?.to : redirect;
    const status = redirectStatusCode ?? former?.status ?? REDIRECT_STATUS;
    const others = before.filter(({ from }) => from !== hostname);
    const redirects = to === undefined || to === null ? others : [...others, { from: hostname, to, status }];
    await world.services.domains.setRedirects({ projectId: project.id, redirects }, CONTEXT);
  }
  const branch = gitBranch === undefined ? own.extras.get(hostname)?.['gitBranch'] : gitBranch;
  world.keepExtra(project, hostname, { gitBranch: branch ?? null, updatedAt: world.now() });
}

/** Refuses a redirect before anything is kept, attached or moved. */
function check({ world }: Call, { id }: ProviderProject, hostname: string, { redirect }: Wanted): void {
  const fault = typeof redirect === 'string' ? world.redirectFault(id, hostname, redirect) : null;
  if (fault !== null) refuse(400, 'invalid_request', `redirect ${fault}`);
}

function keepClaim(call: Call, project: ProviderProject, name: string, data: Wanted): void {
  check(call, project, name, data);
  call.world.items.put({ kind: 'claim', projectId: project.id, name, data });
}

/** Attaches a hostname, even if another project has it. */
async function attach(call: Call, project: ProviderProject, hostname: string, wanted: Wanted): Promise<Found> {
  check(call, project, hostname, wanted);
  await call.world.take(project, hostname);
  const found = existing(call, { idOrName: project.id, domain: hostname });
  if (Object.values(wanted).some((value) => value !== undefined && value !== null)) await apply(call, found, wanted);
  return found;
}

async function add(call: Call, { name, customEnvironmentId: _, ...wanted }: z.infer<typeof addition>): Promise<Reply> {
  const project = projectOf(call, call.params['idOrName'] ?? '');
  const { hostname, apex } = hostnameOf(call, name);
  const { world, account } = call;
  const holder = world.held(hostname)?.projectId ?? null;
  const isClaimed = world.claimOf(project, hostname) !== null;
  if (isClaimed || (holder !== null && ownsProject(account, holder))) {
    const isOwn = isClaimed || holder === project.id;
    const found = existing(call, { idOrName: isOwn ? project.id : (holder ?? ''), domain: hostname });
    const message = `Cannot add ${hostname} since it's already in use by one of your projects.`;
    const more = { projectId: project.id, domain: await shown(call, found) };
    refuse(isOwn ? 400 : 409, 'domain_already_in_use', message, more);
  }
  if (holder !== null || isForeign(call, apex)) {
    keepClaim(call, project, hostname, wanted);
    return ok(await shown(call, existing(call, { idOrName: project.id, domain: hostname })));
  }
  const found = await attach(call, project, hostname, wanted);
  world.beginCheck(hostname);
  return ok(await shown(call, found));
}

async function verify(call: Call): Promise<Reply> {
  const { world } = call;
  const found = existing(call);
  const { project, hostname, claim } = found;
  if (claim === null) {
    await world.verify(hostname);
    return ok(await shown(call, found));
  }
  const proof = world.proof(project, hostname);
  if (!(await world.isProven(proof))) missingTxt(proof);
  const attached = await attach(call, project, hostname, claim.data as Wanted);
  world.endClaims(hostname);
  await world.verify(hostname);
  return ok(await shown(call, attached));
}

async function moveDomain(call: Call, { projectId, ...wanted }: z.infer<typeof move>): Promise<Reply> {
  const { world } = call;
  const { project, hostname, claim } = existing(call);
  const target = projectOf(call, projectId);
  if (target.id === project.id)
    refuse(409, 'domain_already_in_use', `Cannot move ${hostname} since it is assigned to this project already.`);
  if (claim !== null) {
    keepClaim(call, target, hostname, { ...claim.data, ...wanted });
    world.items.remove(claim);
  } else {
    await attach(call, target, hostname, wanted);
    await world.verify(hostname);
  }
  return ok(await shown(call, existing(call, { idOrName: target.id, domain: hostname })));
}

async function remove(call: Call, { removeRedirects = false }: z.infer<typeof removal>): Promise<Reply> {
  const found = existing(call);
  const { project, hostname, claim } = found;
  const redirects = claim === null ? (await besides(call, project)).redirects : [];
  const leading = redirects.filter(({ to }) => to === hostname).map(({ from }) => from);
  if (leading.length > 0 && !removeRedirects)
    refuse(409, 'domain_is_redirect_target', `${leading.join(', ')} redirects to ${hostname}. Send removeRedirects.`);
  await call.world.removeHostname(project, found);
  return ok({});
}

async function update(call: Call, wanted: Wanted): Promise<Reply> {
  const found = existing(call);
  const { project, hostname, claim } = found;
  if (claim === null) await apply(call, found, wanted);
  else keepClaim(call, project, hostname, { ...claim.data, ...wanted });
  return ok(await shown(call, existing(call)));
}

async function list(call: Call): Promise<Reply> {
  const { query } = call;
  const all = await shownOf(call, projectOf(call, call.params['idOrName'] ?? ''));
  const isTrue = (name: string): boolean | null => (query.has(name) ? query.get(name) === 'true' : null);
  const [verified, branch, redirect] = [isTrue('verified'), query.get('gitBranch'), query.get('redirect')];
  const isProduction = isTrue('production') === true || query.get('target') === 'production';
  const wanted = all.filter(
    (each) =>
      (verified === null || each.verified === verified) &&
      (branch === null || each.gitBranch === branch) &&
      (redirect === null || each.redirect === redirect) &&
      (isTrue('redirects') !== false || each.redirect === null) &&
      (!isProduction || each.gitBranch === null) &&
      (query.get('target') !== 'preview' || each.gitBranch !== null),
  );
  const { page, pagination } = pageOf(wanted, query);
  return ok({ domains: page, pagination });
}

const ONE = '/v9/projects/{idOrName}/domains/{domain}';

export const PROJECT_DOMAINS: readonly Operation[] = [
  operation('addProjectDomain', 'POST /v10/projects/{idOrName}/domains', add, { input: addition, limit: 'add' }),
  operation('getProjectDomains', 'GET /v9/projects/{idOrName}/domains', list),
  operation('getProjectDomain', `GET ${ONE}`, async (call) => ok(await shown(call, existing(call)))),
  operation('updateProjectDomain', `PATCH ${ONE}`, update, { input: change }),
  operation('removeProjectDomain', `DELETE ${ONE}`, remove, { input: removal, limit: 'remove' }),
  operation('verifyProjectDomain', `POST ${ONE}/verify`, verify, { limit: 'verify' }),
  operation('moveProjectDomain', 'POST /v1/projects/{idOrName}/domains/{domain}/move', moveDomain, { input: move }),
];

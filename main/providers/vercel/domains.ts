import { z } from 'zod';
import { ownedBy, ownsProject } from '../domains.ts';
import { ok, operation, refuse } from '../operations.ts';
import type { ProviderItem } from '../facts.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import {
  domainsBelow,
  hostnameOf,
  idOf,
  isForeign,
  missingTxt,
  NAME_SERVERS,
  pageOf,
  projectOf,
  teamOf,
  userOf,
} from './account.ts';
import { shownOf } from './project-domains.ts';
const creation = z.object({
  name: z.string().max(1_000),
  method: z.string().optional(),
  token: z.string().optional(),
  cdnEnabled: z.boolean().optional(),
  zone: z.boolean().optional(),
});

async function shownDomain(call: Call, apex: string) {
  const { account, world } = call;
  const mine = ownedBy(account);
  const added = world.items.list('domain').filter((each) => each.name === apex && mine(each));
  const held = domainsBelow(call, apex).filter(mine);
  const createdAt = Math.min(...added.map((each) => each.createdAtMs), ...held.map((each) => each.attachedAtMs));
  const nameservers = await world.resolve(apex, 'NS');
  const owner = userOf(account);
  return {
    id: idOf('dom', apex),
    name: apex,
    serviceType: NAME_SERVERS.every((server) => nameservers.includes(server)) ? 'zeit.world' : 'external',
    nameservers,
    intendedNameservers: NAME_SERVERS,
    creator: { id: owner, username: 'vivarium', email: 'vivarium@example.com', customerId: null },
    createdAt,
    boughtAt: null,
    expiresAt: null,
    renew: false,
    transferredAt: null,
    teamId: teamOf(account),
    userId: owner,
    verified: !isForeign(call, apex),
    echMode: 'auto',
  };
}

/** The registered domains that the account has added, or has domains of. */
export function apexesOf(call: Call): string[] {
  const mine = ownedBy(call.account);
  const held = call.world.domains().filter(mine);
  const used = held.map(({ hostname }) => hostnameOf(call, hostname).apex).filter((apex) => !isForeign(call, apex));
  const added = call.world.items.list('domain').filter(mine);
  return [...new Set([...used, ...added.map(({ name }) => name)])];
}

/** The account's registered domain of `{domain}`. */
export function apexIn(call: Call): string {
  const { apex } = hostnameOf(call, call.params['domain'] ?? '');
  return apexesOf(call).includes(apex) ? apex : refuse(404, 'not_found', `The domain "${apex}" was not found.`);
}

async function config(call: Call): Promise<Reply> {
  const { world, account, query } = call;
  const { hostname, apex } = hostnameOf(call, call.params['domain'] ?? '');
  const idOrName = query.get('projectIdOrName');
  const holder = world.held(hostname)?.projectId ?? '';
  const own = ownsProject(account, holder) ? holder : account.projects[0].id;
  const project = projectOf(call, idOrName ?? own);
  const [{ checks, gate }, cnames, aValues, target, nameservers] = await Promise.all([
    world.look(project.id, hostname),
    world.resolve(hostname, 'CNAME'),
    world.resolve(hostname, 'A'),
    world.target(project),
    world.resolve(query.get('strict') === 'true' ? hostname : apex, 'NS'),
  ]);
  const isProxied = checks.some(({ code, outcome }) => code === 'proxied' && outcome === 'warning');
  const isConfigured = checks.every(({ outcome }) => outcome === 'ok' || outcome === 'warning');
  const isCname = cnames.length > 0;
  const conflicts = checks.filter(({ outcome, code }) => outcome === 'failed' && code === 'a_conflict');
  return ok({
    configuredBy: isConfigured ? (isProxied ? 'http' : isCname ? 'CNAME' : 'A') : null,
    acceptedChallenges: isConfigured ? ['http-01'] : [],
    recommendedIPv4: [{ rank: 1, value: target.addresses }],
    recommendedCNAME: [{ rank: 1, value: `${target.name}.` }],
    misconfigured: !isConfigured || gate.some(({ outcome }) => outcome !== 'ok' && outcome !== 'warning'),
    // Answered too, and in no specification.
    ...{ nameservers, serviceType: 'external', cnames, aValues },
    conflicts: conflicts.map(({ found = '' }) => ({ name: hostname, type: 'A', value: found })),
  });
}

async function create(call: Call, { name, method = 'add', zone = false }: z.infer<typeof creation>): Promise<Reply> {
  const { hostname, apex } = hostnameOf(call, name);
  if (method !== 'add') refuse(400, 'bad_request', 'Vivarium emulates the method "add" only.');
  if (hostname !== apex) refuse(400, 'invalid_domain', `Only apex domains can be added. Add ${apex}.`);
  if (isForeign(call, apex)) refuse(409, 'domain_already_in_use', `The domain ${apex} is not allowed to be used.`);
  const madeAt = zone ? await call.world.makeZone(call.account, { name: apex, servers: NAME_SERVERS }) : null;
  keep(call, call.account.projects[0].id, apex, madeAt === null ? {} : { madeAt });
  return ok({ domain: await shownDomain(call, apex) });
}

/** Adds a domain to a project, or to what is known of it. */
function keep({ world }: Call, projectId: string, name: string, data: ProviderItem['data']): void {
  const before = world.items.list('domain').find((each) => each.projectId === projectId && each.name === name);
  world.items.put({ kind: 'domain', projectId, name, data: { ...before?.data, ...data } });
}

async function remove(call: Call): Promise<Reply> {
  const { world, account } = call;
  const apex = apexIn(call);
  const used = domainsBelow(call, apex).filter(ownedBy(account));
  if (used.length > 0) {
    const message = `The domain ${apex} is in use by ${used.length === 1 ? 'a project' : 'projects'}: ${used.map(({ hostname }) => hostname).join(', ')}.`;
    refuse(409, 'domain_in_use', message);
  }
  for (const item of world.items.list('domain').filter(ownedBy(account))) {
    if (item.name !== apex) continue;
    if (isForeign(call, apex)) world.items.remove(item);
    else await world.dropZone(item, NAME_SERVERS);
  }
  return ok({ uid: idOf('dom', apex) });
}

/** The record by which the account claims a registered domain. */
function proofOf(call: Call): { apex: string; proof: { name: string; value: string }; projectId: string } {
  const { apex } = hostnameOf(call, call.params['domain'] ?? '');
  const [project] = call.account.projects;
  return { apex, proof: call.world.proof(project, apex), projectId: project.id };
}

async function claim(call: Call): Promise<Reply> {
  const { apex, proof, projectId } = proofOf(call);
  if (!(await call.world.isProven(proof))) missingTxt(proof);
  keep(call, projectId, apex, { claimed: true });
  return ok({ domain: await shownDomain(call, apex) });
}

async function projectDomains(call: Call): Promise<Reply> {
  const apex = apexIn(call);
  const all = await Promise.all(call.account.projects.map((project) => shownOf(call, project)));
  const { page, pagination } = pageOf(
    all.flat().filter(({ apexName }) => apexName === apex),
    call.query,
  );
  return ok({ projectDomains: page, pagination });
}

async function list(call: Call): Promise<Reply> {
  const all = await Promise.all(apexesOf(call).map((apex) => shownDomain(call, apex)));
  const { page, pagination } = pageOf(all, call.query);
  return ok({ domains: page, pagination });
}

export const DOMAINS: readonly Operation[] = [
  operation('getDomainConfig', 'GET /v6/domains/{domain}/config', config),
  operation('getDomainVerificationRecord', 'GET /v9/domains/{domain}/verification', (call) => {
    const { proof } = proofOf(call);
    return ok({ txtRecord: proof.value, verificationDomain: proof.name });
  }),
  operation('claimDomainOwnership', 'POST /v9/domains/{domain}/claim', claim, { limit: 'verify' }),
  operation('getDomains', 'GET /v5/domains', list),
  operation('getDomain', 'GET /v5/domains/{domain}', async (call) =>
    ok({ domain: { ...(await shownDomain(call, apexIn(call))), suffix: false } }),
  ),
  operation('createOrTransferDomain', 'POST /v7/domains', create, { input: creation, limit: 'add' }),
  operation('deleteDomain', 'DELETE /v6/domains/{domain}', remove, { limit: 'remove' }),
  operation('getDomainProjectDomains', 'GET /v1/domains/{domain}/project-domains', projectDomains),
];

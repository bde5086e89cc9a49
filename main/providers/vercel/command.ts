import { z } from 'zod';
import { ok, operation, refuse, Refused } from '../operations.ts';
import type { Call, Operation, Reply } from '../provider.ts';
import { projectOf, teamOf, userOf } from './account.ts';
import { PROJECT_DOMAINS } from './project-domains.ts';

/** The user and the team as a token without all rights sees them. */
const limited = { limited: true, avatar: null } as const;

const user = ({ account }: Call) => ({
  ...limited,
  id: userOf(account),
  email: 'vivarium@example.com',
  username: 'vivarium',
  name: 'Vivarium',
  defaultTeamId: teamOf(account),
});

const team = ({ account }: Call) => ({
  ...limited,
  id: teamOf(account),
  slug: 'vivarium',
  name: 'Vivarium',
  createdAt: 0,
  limitedBy: ['scope'],
});

const alias = z.object({ domain: z.string().max(1_000) });

/** Answers as an operation of a project’s domains, with other parameters or another body. */
async function as(name: string, call: Call, given: Partial<Call>): Promise<Reply> {
  const operation = PROJECT_DOMAINS.find((each) => each.name === name);
  return operation === undefined ? refuse(500, 'internal_error', name) : operation.handle({ ...call, ...given });
}

async function addAlias(call: Call): Promise<Reply> {
  const { domain } = call.body as z.infer<typeof alias>;
  const inUse = (error: unknown): never => {
    if (!(error instanceof Refused) || error.refusal.code !== 'domain_already_in_use') throw error;
    const { status, message, more = {} } = error.refusal;
    const holder = more['domain'] as { projectId: string } | null;
    return refuse(status, 'ALIAS_DOMAIN_EXIST', message, { project: { id: holder?.projectId } });
  };
  const added = await as('addProjectDomain', call, { body: { name: domain } }).catch(inUse);
  return ok([{ domain, target: 'PRODUCTION', ...(added.body as object) }]);
}

function removeAlias(call: Call): Promise<Reply> {
  const domain = call.query.get('domain') ?? '';
  return as('removeProjectDomain', call, { params: { ...call.params, domain }, body: {} });
}

function domainOf(call: Call): Promise<Reply> {
  const idOrName = call.world.held(call.params['domain'] ?? '')?.projectId ?? '';
  return as('getProjectDomain', call, { params: { ...call.params, idOrName } });
}

/** The SDK requires more, which is about deploys. */
function project(call: Call): Reply {
  const { id, slug } = projectOf(call, call.params['idOrName'] ?? '');
  return ok({ id, name: slug, accountId: teamOf(call.account) });
}

/** Certificates are issued at once, so no order is open; the command then asks for a certificate. */
const noOrder = (): never => refuse(404, 'cert_order_not_found', 'There is no open order for a certificate.');

/** The version of Vercel’s own command that the tests run. */
const drivenBy = 'vercel 58.10.0';
const ALIAS = '/projects/{idOrName}/alias';

/** Who calls, and the operations in no specification (`command.…`) by which Vercel’s own command manages the domains of a project. */
export const COMMAND: readonly Operation[] = [
  operation('getAuthUser', 'GET /v2/user', (call) => ok({ user: user(call) })),
  operation('getTeams', 'GET /v2/teams', (call) =>
    ok({ teams: [team(call)], pagination: { count: 1, next: null, prev: null } }),
  ),
  operation('getTeam', 'GET /v2/teams/{teamId}', (call) => ok(team(call))),
  operation('getProject', 'GET /v9/projects/{idOrName}', project, { drivenBy }),
  operation('command.getTeam', 'GET /teams/{teamId}', (call) => ok(team(call)), { drivenBy }),
  operation('command.finishCert', 'PATCH /v3/certs', noOrder, { drivenBy }),
  operation('command.addAlias', `POST ${ALIAS}`, addAlias, { input: alias, limit: 'add', drivenBy }),
  operation('command.removeAlias', `DELETE ${ALIAS}`, removeAlias, { limit: 'remove', drivenBy }),
  operation('command.getDomain', 'GET /project-domains/{domain}', domainOf, { drivenBy }),
];

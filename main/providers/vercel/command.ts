import { z } from 'zod';
import { type Call, ok, type Operation, refuse, Refused, type Reply } from '../provider.ts';
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

/** The version of Vercel’s own command that the tests run. */
const drivenBy = 'vercel 58.10.0';

/** Who calls, and the operations in no specification (`command.…`) by which Vercel’s own command manages the domains of a project. */
export const COMMAND: readonly Operation[] = [
  { name: 'getAuthUser', method: 'GET', path: '/v2/user', handle: (call) => ok({ user: user(call) }) },
  {
    name: 'getTeams',
    method: 'GET',
    path: '/v2/teams',
    handle: (call) => ok({ teams: [team(call)], pagination: { count: 1, next: null, prev: null } }),
  },
  { name: 'getTeam', method: 'GET', path: '/v2/teams/{teamId}', handle: (call) => ok(team(call)) },
  {
    name: 'getProject',
    method: 'GET',
    path: '/v9/projects/{idOrName}',
    // The SDK requires more, which is about deploys.
    drivenBy,
    handle(call) {
      const { id, slug } = projectOf(call, call.params['idOrName'] ?? '');
      return ok({ id, name: slug, accountId: teamOf(call.account) });
    },
  },
  {
    name: 'command.getTeam',
    method: 'GET',
    path: '/teams/{teamId}',
    drivenBy,
    handle: (call) => ok(team(call)),
  },
  {
    name: 'command.finishCert',
    method: 'PATCH',
    path: '/v3/certs',
    drivenBy,
    // Certificates are issued at once, so no order is open; the command then asks for a certificate.
    handle: () => refuse(404, 'cert_order_not_found', 'There is no open order for a certificate.'),
  },
  {
    name: 'command.addAlias',
    method: 'POST',
    path: '/projects/{idOrName}/alias',
    input: alias,
    limit: 'add',
    drivenBy,
    async handle(call) {
      const { domain } = call.body as z.infer<typeof alias>;
      const inUse = (error: unknown): never => {
        if (!(error instanceof Refused) || error.refusal.code !== 'domain_already_in_use') throw error;
        const { status, message, more = {} } = error.refusal;
        const holder = more['domain'] as { projectId: string } | null;
        return refuse(status, 'ALIAS_DOMAIN_EXIST', message, { project: { id: holder?.projectId } });
      };
      const added = await as('addProjectDomain', call, { body: { name: domain } }).catch(inUse);
      return ok([{ domain, target: 'PRODUCTION', ...(added.body as object) }]);
    },
  },
  {
    name: 'command.removeAlias',
    method: 'DELETE',
    path: '/projects/{idOrName}/alias',
    limit: 'remove',
    drivenBy,
    handle: (call) =>
      as('removeProjectDomain', call, {
        params: { ...call.params, domain: call.query.get('domain') ?? '' },
        body: {},
      }),
  },
  {
    name: 'command.getDomain',
    method: 'GET',
    path: '/project-domains/{domain}',
    drivenBy,
    handle(call) {
      const holder = call.world.held(call.params['domain'] ?? '')?.projectId ?? '';
      return as('getProjectDomain', call, { params: { ...call.params, idOrName: holder } });
    },
  },
];

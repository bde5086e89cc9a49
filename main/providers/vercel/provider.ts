import { z } from 'zod';
import { HOUR_MS } from '../../contract/duration.ts';
import { ok, operation, refuse, Refused } from '../operations.ts';
import type { Call, Operation, Provider, Question, Refusal, Reply } from '../provider.ts';
import { projectOf, teamOf, userOf } from './account.ts';
import { CERTS } from './certs.ts';
import { DOMAINS } from './domains.ts';
import { PROJECT_DOMAINS } from './project-domains.ts';
import { RECORDS } from './records.ts';

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
async function as(name: string, call: Call, params: object, body: object = {}): Promise<Reply> {
  const operation = PROJECT_DOMAINS.find((each) => each.name === name);
  if (operation === undefined) return refuse(500, 'internal_error', name);
  return operation.handle({ ...call, params: { ...call.params, ...params } }, body);
}

async function addAlias(call: Call, { domain }: z.infer<typeof alias>): Promise<Reply> {
  const inUse = (error: unknown): never => {
    if (!(error instanceof Refused) || error.refusal.code !== 'domain_already_in_use') throw error;
    const { status, message, more = {} } = error.refusal;
    const holder = more['domain'] as { projectId: string };
    return refuse(status, 'ALIAS_DOMAIN_EXIST', message, { project: { id: holder.projectId } });
  };
  const added = await as('addProjectDomain', call, {}, { name: domain }).catch(inUse);
  return ok([{ domain, target: 'PRODUCTION', ...(added.body as object) }]);
}

function removeAlias(call: Call): Promise<Reply> {
  const domain = call.query.get('domain') ?? '';
  return as('removeProjectDomain', call, { domain });
}

function domainOf(call: Call): Promise<Reply> {
  const idOrName = call.world.held(call.params['domain'] ?? '')?.projectId ?? '';
  return as('getProjectDomain', call, { idOrName });
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
const COMMAND: readonly Operation[] = [
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

const hour = (perMinute: number) => ({ perMinute, perDay: Infinity, minuteMs: HOUR_MS });

/** `{"error":{"code","message",…}}` (vercel.com/docs/rest-api/errors); the members beside them as observed. */
function failure({ status, code, message, more = {} }: Refusal): Reply {
  const resetMs = Number(more['resetAtMs']);
  const limit = { remaining: 0, reset: Math.ceil(resetMs / 1_000), resetMs, total: more['limit'] };
  return { status, body: { error: { code, message, ...(code === 'rate_limited' ? { limit } : more) } } };
}

/** Vercel’s domain API, by @vercel/sdk 1.28.35 and vercel.com/docs, November 2026. */
export const VERCEL: Provider = {
  id: 'vercel',
  credentials: ['authorization'],
  variables: {
    token: [
      ...['VERCEL_TOKEN', 'VERCEL_API_TOKEN', 'VERCEL_ACCESS_TOKEN', 'VERCEL_AUTH_TOKEN', 'VERCEL_BEARER_TOKEN'],
      ...['VERCEL_AUTH_BEARER_TOKEN', 'AUTH_BEARER_TOKEN'],
    ],
    ids: (account) => {
      const [{ id }] = account.projects;
      const team = teamOf(account);
      return {
        ...{ VERCEL_PROJECT_ID: id, PROJECT_ID_VERCEL: id },
        ...{ VERCEL_TEAM_ID: team, TEAM_ID_VERCEL: team, VERCEL_ORG_ID: team },
      };
    },
    unset: ['VERCEL_OIDC_TOKEN', 'VERCEL_ARTIFACTS_TOKEN', 'VERCEL_AUTOMATION_BYPASS_SECRET'],
  },
  operations: [...PROJECT_DOMAINS, ...DOMAINS, ...RECORDS, ...CERTS, ...COMMAND],
  asks: ({ id }, domain): readonly Question[] => [
    { name: 'getProjectDomain', params: { idOrName: id, domain } },
    { name: 'getDomainConfig', params: { domain }, query: { projectIdOrName: id } },
  ],
  // vercel.com/docs/multi-tenant/limits, per team; that of all other operations is not published.
  limits: { default: { perMinute: 500, perDay: Infinity }, add: hour(100), remove: hour(100), verify: hour(50) },
  refusals: {
    missing_token: {
      ...{ code: 'forbidden', message: 'The request is missing an authentication token' },
      more: { missingToken: true },
    },
    wrong_token: { code: 'forbidden', message: 'Not authorized. …', more: { invalidToken: true } },
    not_emulated: { code: 'not_implemented' },
    invalid_request: { code: 'bad_request', message: 'Invalid request: …' },
    internal_error: { code: 'internal_server_error' },
  },
  failure,
  unsettled: [
    'The limit of operations other than adding, verifying and removing domains is not published: 500 a minute here.',
    'A domain that is on the project already: 400 by the SDK’s text, 409 by two reports of August 2026 with the same body. 400 here.',
    '`verify` without its TXT record: 400 `missing_txt_record`. Reports also show `existing_project_domain` for a hostname of another account; not answered here.',
    'The code for a name that is no hostname: `invalid_domain` with 400, as the command line knows it for certificates.',
    'The status of `conflicting_caa_record` and `configuration_error`, which the command line knows: 400 and 449.',
    'The codes for removing a domain in use (`domain_in_use`) and one that others redirect to (`domain_is_redirect_target`), both 409.',
    'The DNS of a domain is at Vercel (`zeit.world`) while Vivarium’s DNS answers ns1 and ns2.vercel-dns.com for it; `zone: true` makes a zone with these where the name is in none. Records of other domains are not kept: 404.',
    '`acceptedChallenges` of a hostname that does not lead here: empty.',
    'A certificate for several names: one for each hostname here; `bad_domains` with 400 for more.',
    'A redirect without a status: 307, as the dashboard makes it.',
    'Whether the moment of a cursor belongs to its page: pages end after a moment here.',
  ],
};

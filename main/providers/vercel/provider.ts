import { HOUR_MS } from '../../contract/duration.ts';
import type { Provider, Question, Refusal, Reply } from '../provider.ts';
import { teamOf } from './account.ts';
import { CERTS } from './certs.ts';
import { COMMAND } from './command.ts';
import { DOMAINS } from './domains.ts';
import { PROJECT_DOMAINS } from './project-domains.ts';
import { RECORDS } from './records.ts';

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

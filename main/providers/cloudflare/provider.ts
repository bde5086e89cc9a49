import { MINUTE_MS } from '../../contract/duration.ts';
import type { Provider, Refusal, Reply } from '../provider.ts';
import { accountIdOf, idOf, ownZoneOf } from './account.ts';
import { HOSTNAMES, HOSTNAMES_MAX } from './hostnames.ts';
import { ORIGINS, ZONES } from './zones.ts';
import { RECORDS } from './records.ts';

const WINDOW_MS = 5 * MINUTE_MS;

/** `{"success":false,"errors":[{"code","message"}],"messages","result":null}`; `messages` has what Vivarium adds. */
function failure({ status, code: own, message, more = {} }: Refusal, said: string): Reply {
  const { chain, detail, resetAtMs: _, ...members } = more;
  const code = Number(own) || 1004;
  const added = typeof detail === 'string' ? detail : message === said ? null : said;
  const error = { code, message, ...(chain !== undefined && { error_chain: chain }), ...members };
  const messages = added === null ? [] : [{ code, message: added }];
  return { status, body: { success: false, errors: [error], messages, result: null } };
}

/** Cloudflare for SaaS, zones and DNS records, by cloudflare 7.3.0 and developers.cloudflare.com, November 2026. */
export const CLOUDFLARE: Provider = {
  id: 'cloudflare',
  credentials: ['authorization', 'x-auth-key', 'x-auth-user-service-key'],
  variables: {
    token: ['CLOUDFLARE_API_TOKEN', 'CF_API_TOKEN'],
    ids: (account) => {
      const [zone, id] = [idOf(ownZoneOf(account.projects[0])), accountIdOf(account)];
      return {
        ...{ CLOUDFLARE_ZONE_ID: zone, CF_ZONE_ID: zone, CLOUDFLARE_ACCOUNT_ID: id, CF_ACCOUNT_ID: id },
        CLOUDFLARE_BASE_URL: 'https://api.cloudflare.com/client/v4',
      };
    },
    unset: [
      ...['CLOUDFLARE_API_KEY', 'CLOUDFLARE_EMAIL', 'CLOUDFLARE_API_EMAIL', 'CLOUDFLARE_API_USER_SERVICE_KEY'],
      ...['CF_API_KEY', 'CF_API_EMAIL', 'CF_EMAIL', 'CLOUDFLARE_DNS_API_TOKEN', 'CF_DNS_API_TOKEN'],
    ],
  },
  operations: [...HOSTNAMES, ...ORIGINS, ...ZONES, ...RECORDS],
  asks: (project, hostname) => [
    { name: 'customHostnames.list', params: { zone_id: idOf(ownZoneOf(project)) }, query: { hostname } },
  ],
  // developers.cloudflare.com/fundamentals/api/reference/limits, per user.
  limits: { default: { perMinute: 1_200, perDay: Infinity, minuteMs: WINDOW_MS } },
  refusals: {
    missing_token: { status: 401, code: '1000', message: 'Unable to extract bearer token' },
    wrong_token: { code: '9109' },
    invalid_request: {
      code: '1400',
      message: 'Unable to decode the JSON request body. Check your input and try again.',
    },
    rate_limited: { code: '971', message: 'Please wait and consider throttling your request speed' },
    not_emulated: { code: '7000' },
    internal_error: { code: '1500', message: 'Internal Server Error' },
  },
  failure,
  rateFields: ({ limit, remaining, resetAtMs }, nowMs) => [
    ...['Ratelimit', `"default";r=${remaining};t=${Math.max(0, Math.ceil((resetAtMs - nowMs) / 1_000))}`],
    ...['Ratelimit-Policy', `"default";q=${limit};w=${WINDOW_MS / 1_000}`],
  ],
  unsettled: [
    'Each project has a zone from the beginning, the platform’s name of the project, with a fallback origin; its DNS records cannot be changed.',
    'A zone that is added is `active` as soon as Vivarium’s DNS answers its two `name_servers` for it, without the wait of the first check, and `moved` when it does so no more; it is not deleted after 28 or 7 days. A name that is in no zone of Vivarium’s DNS, and that no domain of another account is below, gets a zone with these name servers at once, so 1049 is not answered. The names of the servers are made up. Another account may add the same zone, which is `pending` there; zone holds (1428) are not emulated.',
    'Records of a zone that is not active are not kept: none are listed, and 1021 with 400 for a change.',
    `The quota of a zone: ${HOSTNAMES_MAX}, those that are included; \`hard_cap\` is the same here, so the next one is refused (1405).`,
    'Hostname states that are answered: `pending`, `active`, `moved`, `deleted`, and `blocked` for a suspended domain. `active_redeploying`, `pending_deletion`, `pending_blocked`, `pending_migration`, `pending_provisioned`, `provisioned` and `test_…` have no cause here.',
    'Certificate states that are answered: `initializing`, `pending_validation`, `pending_issuance`, `active`, `expired`, `validation_timed_out`, `issuance_timed_out`, `inactive` and `deleted`. Deployment takes no time, so nothing is `pending_deployment`; staging, backup and cleanup have no cause here.',
    'A hostname without `ssl` shows none, though Vivarium issues its certificate.',
    'A certificate is validated if the records lead here, or by its own TXT record or delegation; the files of `ownership_verification_http` and `validation_records` are shown and not fetched. One with `wildcard` needs the TXT record or the delegation.',
    'A hostname that another account has: 201 and `pending`, until its TXT record is visible or its CNAME leads to the project’s own zone; then it is moved. The same hostname twice in one project: 409 with 1406.',
    'Names below `.test` and other reserved suffixes are accepted, because local zones have them (1409 there).',
    'Fallback origins: 1551 with 404 for none, 1421 for a name outside the zone, `pending_deployment` while it has no record.',
    'Records and zones: codes 1004, 1061, 1099, 1104, 1116, 81044, 81053 and 81058 as observed, all but 81044 with 400. `proxied` is kept and does not change answers. A batch that is refused keeps what came before.',
    'A call without a token: 401 with 1000, as documented for custom hostnames. Too many calls: 971.',
    'Lists without `order` begin with the oldest.',
  ],
};

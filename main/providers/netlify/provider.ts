import type { Provider, Refusal, Reply } from '../provider.ts';
import { SITES, SSL_OPERATIONS } from './sites.ts';
import { ZONE_OPERATIONS } from './zones.ts';

/** `{"code","message"}`, or `{"errors":{member:[…]}}` for what is wrong with a member of the body. */
function failure({ status, message, more = {} }: Refusal): Reply {
  const { errors, operation, emulated } = more;
  if (errors !== undefined) return { status, body: { errors } };
  return { status, body: { code: status, message, ...(operation !== undefined && { operation, emulated }) } };
}

/** Netlify’s domains, certificates and DNS, by @netlify/open-api 2.60.0 and docs.netlify.com, November 2026. */
export const NETLIFY: Provider = {
  id: 'netlify',
  credentials: ['authorization'],
  variables: {
    token: ['NETLIFY_AUTH_TOKEN', 'NETLIFY_API_TOKEN', 'NETLIFY_TOKEN', 'NETLIFY_ACCESS_TOKEN'],
    ids: ({ id, projects: [site] }) => ({
      ...{ NETLIFY_SITE_ID: site.id, NETLIFY_ACCOUNT_ID: id, NETLIFY_ACCOUNT_SLUG: site.slug },
    }),
    unset: ['NETLIFY_PERSONAL_ACCESS_TOKEN', 'NETLIFY_PURGE_API_TOKEN', 'NETLIFY_BLOBS_CONTEXT'],
  },
  operations: [...SITES, ...SSL_OPERATIONS, ...ZONE_OPERATIONS],
  asks: ({ id }, domain) => [
    { name: 'getSite', params: { site_id: id } },
    { name: 'getAllCertificates', params: { site_id: id }, query: { domain } },
  ],
  // docs.netlify.com/api-and-cli-guides/api-guides/get-started-with-api, `rate-limiting`.
  limits: { default: { perMinute: 500, perDay: Infinity } },
  refusals: {
    missing_token: { status: 401, message: 'Access Denied' },
    wrong_token: { status: 401, message: 'Access Denied. …' },
    invalid_request: { status: 422 },
  },
  failure,
  unsettled: [
    'The values of `state` of a certificate: `issued` as observed; `pending`, `failed` and `expired` here for those that are not. A site’s certificate is the leaves of all its hostnames here: the worst state, and the first end.',
    'A hostname that any other site has, or one below a hostname of another account: 422 with `{"errors":{"custom_domain":["must be unique"]}}`, as observed for `subdomain`. The dashboard also says that the name has a conflicting custom domain in another account; not answered here.',
    'What is wrong with a body: 422 with `errors` by member where one is to blame, else `code` and `message`.',
    'Provisioning with records that are right where the authority refuses: 422 with the dashboard’s *Unable to verify challenge*. The DNS of the custom domain decides about *bad dns for custom domain*; aliases that lead elsewhere are left out.',
    'Provisioning where some hostnames have a certificate: the missing ones are issued. Where all have one: 422 as documented.',
    'A site’s custom domain is the project’s primary hostname, else the oldest. Setting another removes the former, unless it is an alias. `www` is not added to an apex, nor an apex to `www`.',
    'Members of a site other than `custom_domain` and `domain_aliases` are accepted and not kept; members without a meaning here are absent.',
    'A zone is one account’s, also after its name servers have changed; a name that another account has, or has hostnames below: 422 with *must be unique*. Vivarium’s DNS gets a zone with its `dns_servers` where the name is in none. While DNS answers other name servers, no records are listed, and 422 for a new one. Which pool the servers are of is made up.',
    '`managed_dns` says whether a zone of the account has the custom domain. Its records are A and CNAME instead of NETLIFY; `managed` is always false.',
    'A list of sites has no `Link` header here, which no official client reads; `filter` is not compared, and `name` as a part of the name.',
    'The message of a 429: the limiter’s own.',
    'A token in the query (`access_token`), as older documentation has it: not read.',
  ],
};

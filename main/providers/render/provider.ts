import { HOUR_MS } from '../../contract/duration.ts';
import type { Provider, Refusal, Reply } from '../provider.ts';
import { DOMAINS, serviceId } from './domains.ts';

/** `{"id","message"}` (render-oss/cli, `types_gen.go`). */
function failure({ status, code, message, more = {} }: Refusal): Reply {
  switch (code) {
    case 'missing_token':
      return { status: 401, body: { id: 'unauthorized', message: 'Unauthorized' } };
    case 'wrong_token':
      return { status: 401, body: { id: 'unauthorized', message: `Unauthorized. ${message}` } };
    case 'invalid_request':
      return { status, body: { id: 'bad_request', message } };
    case 'not_emulated':
      return { status, body: { id: code, message, ...more } };
    default:
      return { status, body: { id: code, message } };
  }
}

/** Render’s custom domains, by api-docs.render.com and render-oss/cli of August 2026. */
export const RENDER: Provider = {
  id: 'render',
  credentials: ['authorization'],
  environment({ projects }, token) {
    const [service] = projects;
    return {
      set: {
        ...{ RENDER_API_KEY: token, RENDER_API_TOKEN: token, RENDER_TOKEN: token },
        RENDER_SERVICE_ID: service === undefined ? '' : serviceId(service),
      },
      unset: ['RENDER_CLI_TOKEN', 'RENDER_DEPLOY_HOOK', 'RENDER_DEPLOY_HOOK_URL'],
    };
  },
  operations: DOMAINS,
  asks: (project, customDomainIdOrName) => [
    { name: 'RetrieveCustomDomain', params: { serviceId: serviceId(project), customDomainIdOrName } },
  ],
  // api-docs.render.com/reference/rate-limiting, per user.
  limits: {
    default: { perMinute: 400, perDay: Infinity },
    writes: { perMinute: 30, perDay: Infinity },
    domains: { perMinute: 50, perDay: Infinity, minuteMs: HOUR_MS },
  },
  failure,
  rateFields: ({ limit, remaining, resetAtMs }) => [
    ...['Ratelimit-Limit', String(limit), 'Ratelimit-Remaining', String(remaining)],
    ...['Ratelimit-Reset', String(Math.ceil(resetAtMs / 1_000))],
  ],
  unsettled: [
    'The limit of adding and verifying domains: 50 an hour for both, by a report; the documentation’s table could not be read. `Ratelimit-Reset` is in Unix seconds as its text says, though its example has 45.',
    '`id` of an error: a word for its kind. The words of 404, 409 and 400.',
    'A hostname that another service has: 409. The same hostname twice: 409.',
    'The sibling of an apex or of `www` is left out if it is in use already. It goes with the domain that it redirects to; removed alone, it leaves that one.',
    '`verificationStatus` is `verified` while the records lead here. It says nothing about the certificate, which no operation shows; CAA does not change it.',
    'A wildcard is verified by its CNAME; the records below `_acme-challenge` and `_cf-custom-hostname` that Render also needs are not.',
    '`verify` answers before the check has ended, and without a body.',
    'The page size of the list: 20, and 100 at most. `name` may be repeated, or have commas.',
  ],
};

import type { Provider, Refusal, Reply } from '../provider.ts';
import { CERTIFICATES } from './certificates.ts';

const perSecond = (count: number) => ({ perMinute: 60 * count, perDay: Infinity });

/** `{"error"}`; `status` names what programs tell apart (superfly/fly-go, `flaps_error.go`). */
function failure({ status, code, message, more = {} }: Refusal): Reply {
  switch (code) {
    case 'missing_token':
      return { status: 401, body: { error: 'Authenticate: token validation error' } };
    case 'wrong_token':
      return { status: 401, body: { error: `Authenticate: token validation error. ${message}` } };
    case 'not_emulated':
      return { status, body: { error: message, status: code, ...more } };
    default:
      return { status, body: { error: message } };
  }
}

/** Fly’s certificates, by superfly/docs and superfly/fly-go of August 2026, and the Machines API’s specification. */
export const FLY: Provider = {
  id: 'fly',
  credentials: ['authorization'],
  environment({ projects }, token) {
    const [app] = projects;
    const url = 'https://api.machines.dev';
    return {
      set: {
        ...{ FLY_API_TOKEN: token, FLY_ACCESS_TOKEN: token, FLY_APP_NAME: app?.slug ?? '', FLY_APP: app?.slug ?? '' },
        ...{ FLY_API_HOSTNAME: url, FLY_FLAPS_BASE_URL: url },
      },
      unset: ['FLY_API_KEY', 'FLY_AUTH_TOKEN', 'FLY_METRICS_TOKEN'],
    };
  },
  operations: CERTIFICATES,
  asks: ({ slug }, hostname) => [{ name: 'App_Certificates_show', params: { app_name: slug, hostname } }],
  // superfly/docs, `working-with-machines-api`: a request a second for each action, five for reads.
  limits: {
    ...{ default: perSecond(1), list: perSecond(1), create: perSecond(1), check: perSecond(1), delete: perSecond(1) },
    show: perSecond(5),
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

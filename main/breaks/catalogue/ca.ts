import { ACME_LIMITS } from '../../contract/acme-rates.ts';
import type { BreakEntry } from '../../contract/breaks.ts';
import { entryOf } from './entry.ts';

const entry = entryOf('ca', ['hostname']);

/** The symptom of a client that does not notice the break. */
const OBTAINS = 'obtains the certificate';

const EVERY_CLIENT_OBTAINS: BreakEntry['symptoms'] = { certbot: OBTAINS, lego: OBTAINS, dehydrated: OBTAINS };

/** Symptoms of an ACME error in the answer to an order or a challenge. */
const refusedWith = (status: number, type: string): BreakEntry['symptoms'] => ({
  certbot: `Type: ${type}`,
  lego: `acme: error: ${status} :: urn:ietf:params:acme:error:${type}`,
  dehydrated: `urn:ietf:params:acme:error:${type}`,
});

/** Symptoms of an ACME error on which certbot fails itself. */
const confusedBy = (status: number, type: string): BreakEntry['symptoms'] => ({
  ...refusedWith(status, type),
  certbot: "AttributeError: can't set attribute",
  dehydrated: `Status ${status}, urn:ietf:params:acme:error:${type}`,
});

const seconds = (of: string, value: number) => ({
  name: 'seconds',
  description: of,
  default: value,
  min: 0,
  max: 86_400,
});

/**
 * Certificate authorities: faults of the ACME server, some of which also affect the certificates of custom domains.
 * `test/integration/acme/broken-ca.clients.test.ts` tests the symptoms. No stored state is edited.
 */
export const CA_ENTRIES: readonly BreakEntry[] = [
  entry('bad-nonces', {
    title: 'Good nonces are refused',
    cause:
      'The machines of a CA share nonces too late or forget them: 5 % of the requests get `badNonce` although the CA issued the nonce (RFC 8555 §6.5).',
    remedy: 'Repeat the request with the nonce of the error, as every ACME client must. Limit the number of retries.',
    symptoms: EVERY_CLIENT_OBTAINS,
    selectors: [],
    rate: 0.05,
  }),
  entry('part-unavailable', {
    title: 'A part of the CA is down',
    cause:
      'During maintenance, or when a machine behind the CA fails, one part of its API answers 503 with Retry-After. Meanwhile no custom domain gets a certificate.',
    remedy:
      'Renew weeks before the expiry, and retry after the time in Retry-After. Keep using a certificate that is still valid.',
    symptoms: confusedBy(503, 'serverInternal'),
    selectors: [],
    parameters: [
      {
        name: 'part',
        description: 'the part of the ACME API that is down',
        default: 'new-order',
        values: ['all', 'directory', 'new-nonce', 'new-account', 'new-order', 'challenge', 'finalize', 'renewal-info'],
      },
      seconds('Retry-After, in seconds', 60),
    ],
  }),
  entry('rate-limited', {
    title: 'A limit of the CA is reached',
    cause:
      'Too many accounts, orders, certificates or failures, mostly caused by a loop or by containers that do not store certificates: the CA answers `rateLimited`, whatever the real counts are. Renewals within their ARI window are exempt.',
    remedy:
      'Store certificates and accounts on disk, and test against a staging directory. Wait until the time in the error.',
    symptoms: confusedBy(429, 'rateLimited'),
    parameters: [
      {
        name: 'limit',
        description: 'the limit, as `acme.limits` names it; custom domains only have the certificate limit',
        default: 'certificatesPerDomain',
        values: [...ACME_LIMITS],
      },
    ],
  }),
  entry('caa-forbids', {
    title: 'CAA permits another CA only',
    cause:
      'A CAA record of the name permits only other-ca.example, as after a move to another CA. Every certificate is refused, including those of custom domains.',
    remedy: 'Add a CAA record for this CA next to the other one; `caa.explain` shows which record decides.',
    symptoms: refusedWith(403, 'caa'),
    at: 'question',
  }),
  entry('caa-servfail', {
    title: 'CAA lookup fails',
    cause:
      'The name servers answer CAA queries with SERVFAIL, as some old ones do, so a CA must not issue (RFC 8659 §3).',
    remedy: 'Have the provider answer CAA queries: NOERROR without data is enough.',
    symptoms: refusedWith(403, 'caa'),
    at: 'question',
  }),
  entry('challenge-not-found', {
    title: 'The challenge gets 404',
    cause:
      'The CA reaches a web server that doesn’t have the token: the document root is wrong, or another machine of a pool answers.',
    remedy:
      'Fetch the URL in the error from another machine; serve /.well-known/acme-challenge/ on every machine to which the name resolves.',
    symptoms: refusedWith(403, 'unauthorized'),
  }),
  entry('challenge-wrong-token', {
    title: 'The challenge gets another key authorization',
    cause: 'Two clients with different accounts answer for one name, or a cache serves the token of an earlier order.',
    remedy: 'Let only one client answer for the name, and do not cache /.well-known/acme-challenge/.',
    symptoms: refusedWith(403, 'unauthorized'),
  }),
  entry('challenge-redirect-without-slash', {
    title: 'The redirect lacks a slash',
    cause:
      'A rule such as `Redirect / https://HOST` drops the slash between host and path: the CA is sent to HOST.well-known.',
    remedy: 'End the target of the rule with a slash.',
    symptoms: refusedWith(400, 'connection'),
  }),
  entry('challenge-https-loop', {
    title: 'Forced HTTPS causes a redirect loop',
    cause:
      'A proxy speaks HTTP to a server that redirects all HTTP to HTTPS: each redirect leads to the same URL again.',
    remedy: 'Let the proxy speak HTTPS to the server, or exempt /.well-known/acme-challenge/ from the redirect.',
    symptoms: refusedWith(400, 'connection'),
  }),
  entry('order-stays-processing', {
    title: 'The order stays “processing”',
    cause:
      'The CA accepts the CSR but does not issue the certificate: its queue is stuck. It issues once this break ends; dehydrated waits that long.',
    remedy:
      'Poll at the interval in Retry-After, with a time limit; resume the order later instead of creating another.',
    symptoms: { certbot: 'acme.errors.TimeoutError', lego: 'time limit exceeded', dehydrated: OBTAINS },
  }),
  entry('slow-finalize', {
    title: 'The certificate is issued late',
    cause:
      'Under load, a CA needs time after the CSR: the order is “processing” meanwhile, and the client must poll it.',
    remedy: 'Poll the order until it is valid: an answer to finalize doesn’t mean that the certificate exists.',
    symptoms: EVERY_CLIENT_OBTAINS,
    parameters: [
      {
        name: 'delayMs',
        description: 'milliseconds from the CSR to the certificate',
        default: 5_000,
        min: 1,
        max: 600_000,
      },
    ],
  }),
  entry('eab-demanded', {
    title: 'The CA demands an external account',
    cause:
      'The CA now ties accounts to its customers: it refuses new accounts without `externalAccountBinding`; existing accounts keep working (RFC 8555 §7.3.4).',
    remedy: 'Get a key identifier and an HMAC key from the CA, and pass both to the client when it registers.',
    symptoms: {
      certbot:
        'Unable to register an account with ACME server. Server requires external account binding. Please use --eab-kid and --eab-hmac-key.',
      lego: 'Server requires External Account Binding. Use --eab with --kid and --hmac.',
      dehydrated: 'This CA requires an external account but no EAB_KID/EAB_HMAC_KEY has been configured',
    },
    selectors: [],
  }),
  entry('profile-gone', {
    title: 'A profile is withdrawn',
    cause:
      'The CA has withdrawn a profile, as Let’s Encrypt does: the directory no longer lists it, and orders for it are refused.',
    remedy: 'Choose a profile that the directory lists, or none.',
    symptoms: confusedBy(400, 'invalidProfile'),
    parameters: [
      {
        name: 'profile',
        description: 'the profile; classic applies to clients that choose none',
        default: 'classic',
        values: ['classic', 'tlsserver', 'shortlived', 'letsencrypt-2027', 'letsencrypt-2028', 'time-lapse'],
      },
    ],
  }),
  entry('authorizations-not-reused', {
    title: 'Validations are not reused',
    cause:
      'A CA may ignore that a name was validated an hour ago, as Let’s Encrypt will from 2028: every order needs a new validation.',
    remedy: 'Make sure that challenges can be answered at every renewal, not only at the first issuance.',
    symptoms: EVERY_CLIENT_OBTAINS,
  }),
  entry('renew-now', {
    title: 'The CA asks to renew now',
    cause:
      'Before a mass revocation, the CA moves the suggested renewal window (ARI, RFC 9773) into the past. Clients without ARI do not notice.',
    remedy: 'Use a client that asks for ARI at least daily: certbot from 4.1, lego from 4.22, Caddy from 2.8.',
    symptoms: EVERY_CLIENT_OBTAINS,
  }),
  entry('root-ending', {
    title: 'The root is about to expire',
    cause:
      'No certificate outlives its issuer: as its root nears expiry, a CA issues ever shorter ones. `vivarium doctor` reports the expiry.',
    remedy: 'Renew by the certificate’s dates or by ARI instead of every 60 days, and move to the new root in time.',
    symptoms: EVERY_CLIENT_OBTAINS,
    parameters: [{ name: 'days', description: 'days that the root has left', default: 10, min: 1, max: 89 }],
  }),
];

import { ACME_LIMITS } from '../../contract/acme-rates.ts';
import type { BreakEntry } from '../../contract/breaks.ts';

type Told = Pick<BreakEntry, 'title' | 'cause' | 'remedy'> &
  Partial<Pick<BreakEntry, 'symptoms' | 'parameters' | 'selectors' | 'at' | 'rate'>>;

const entry = (name: string, told: Told): BreakEntry => ({
  id: `ca.${name}`,
  family: 'ca',
  symptoms: {},
  selectors: ['hostname'],
  parameters: [],
  ...told,
});

/** Of a client that is none the wiser. */
const OBTAINS = 'obtains the certificate';

const EVERY_CLIENT_OBTAINS: BreakEntry['symptoms'] = { certbot: OBTAINS, lego: OBTAINS, dehydrated: OBTAINS };

const seconds = (of: string, value: number) => ({
  name: 'seconds',
  description: of,
  default: value,
  min: 0,
  max: 86_400,
});

/**
 * Certificate authorities: what the ACME server does to its clients, and some of it to the certificates of custom domains.
 * The symptoms are those of `test/integration/acme/broken-ca.test.ts`. Nothing that it stores is edited.
 */
export const CA_ENTRIES: readonly BreakEntry[] = [
  entry('bad-nonces', {
    title: 'Good nonces are refused',
    cause:
      'A CA of many machines knows a nonce too late, or not any longer: 5 % of the requests get `badNonce`, though the nonce was its own (RFC 8555 §6.5).',
    remedy: 'Repeat the request with the nonce of the error: every ACME client must. Count such repeats, and end them.',
    symptoms: EVERY_CLIENT_OBTAINS,
    selectors: [],
    rate: 0.05,
  }),
  entry('part-unavailable', {
    title: 'A part of the CA is down',
    cause:
      'Maintenance, or a failing machine behind the CA: one part of its API answers 503 with Retry-After. No custom domain gets a certificate meanwhile.',
    remedy: 'Renew weeks before the end, and try again as Retry-After says. A certificate that is still valid stays.',
    symptoms: {
      certbot: "AttributeError: can't set attribute",
      lego: 'acme: error: 503 :: urn:ietf:params:acme:error:serverInternal',
      dehydrated: 'Status 503, urn:ietf:params:acme:error:serverInternal',
    },
    selectors: [],
    parameters: [
      {
        name: 'part',
        description: 'the part of ACME that is down',
        default: 'new-order',
        values: ['all', 'directory', 'new-nonce', 'new-account', 'new-order', 'challenge', 'finalize', 'renewal-info'],
      },
      seconds('Retry-After, in seconds', 60),
    ],
  }),
  entry('rate-limited', {
    title: 'A limit of the CA is reached',
    cause:
      'Too many accounts, orders, certificates or failures, mostly by a loop or by containers that keep no certificate: `rateLimited`, whatever was counted. Renewals in the window of ARI are exempt.',
    remedy:
      'Keep certificates and accounts on a disk, and test against a staging directory. Wait until the time in the error.',
    symptoms: {
      certbot: "AttributeError: can't set attribute",
      lego: 'acme: error: 429 :: urn:ietf:params:acme:error:rateLimited',
      dehydrated: 'Status 429, urn:ietf:params:acme:error:rateLimited',
    },
    parameters: [
      {
        name: 'limit',
        description: 'the limit, as `acme.limits` names it; custom domains only know that of certificates',
        default: 'certificatesPerDomain',
        values: [...ACME_LIMITS],
      },
    ],
  }),
  entry('caa-forbids', {
    title: 'CAA permits another CA only',
    cause:
      'A CAA record of the name permits other-ca.example alone, as after a move to another CA. Any certificate is refused, also that of a custom domain.',
    remedy: 'Add a CAA record for this CA beside the other; `caa.explain` shows which record decides.',
    symptoms: {
      certbot: 'Type: caa',
      lego: 'acme: error: 403 :: urn:ietf:params:acme:error:caa',
      dehydrated: 'urn:ietf:params:acme:error:caa',
    },
    at: 'question',
  }),
  entry('caa-servfail', {
    title: 'CAA can’t be looked up',
    cause:
      'The name servers answer questions for CAA with SERVFAIL, as old ones do, so that a CA must not issue (RFC 8659 §3).',
    remedy: 'Have the provider answer CAA: NOERROR without data is enough.',
    symptoms: {
      certbot: 'Type: caa',
      lego: 'acme: error: 403 :: urn:ietf:params:acme:error:caa',
      dehydrated: 'urn:ietf:params:acme:error:caa',
    },
    at: 'question',
  }),
  entry('challenge-not-found', {
    title: 'The challenge gets 404',
    cause:
      'The CA reaches a web server that doesn’t know the token: the wrong document root, or another machine of a pool.',
    remedy:
      'Fetch the URL of the error from elsewhere; serve /.well-known/acme-challenge/ on every machine that the name leads to.',
    symptoms: {
      certbot: 'Type: unauthorized',
      lego: 'acme: error: 403 :: urn:ietf:params:acme:error:unauthorized',
      dehydrated: 'urn:ietf:params:acme:error:unauthorized',
    },
  }),
  entry('challenge-wrong-token', {
    title: 'The challenge gets another key authorization',
    cause: 'Two clients with two accounts answer for one name, or a cache keeps the token of an order before.',
    remedy: 'Let one client answer for the name, and no cache before /.well-known/acme-challenge/.',
    symptoms: {
      certbot: 'Type: unauthorized',
      lego: 'acme: error: 403 :: urn:ietf:params:acme:error:unauthorized',
      dehydrated: 'urn:ietf:params:acme:error:unauthorized',
    },
  }),
  entry('challenge-redirect-without-slash', {
    title: 'The redirect lacks a slash',
    cause:
      'A rule such as `Redirect / https://HOST` drops the slash between host and path: HOST.well-known is asked for.',
    remedy: 'End the target of the rule with a slash.',
    symptoms: {
      certbot: 'Type: connection',
      lego: 'acme: error: 400 :: urn:ietf:params:acme:error:connection',
      dehydrated: 'urn:ietf:params:acme:error:connection',
    },
  }),
  entry('challenge-https-loop', {
    title: 'Forced HTTPS leads in a circle',
    cause:
      'A proxy speaks HTTP to a server that redirects all HTTP to HTTPS: the redirect leads to itself, again and again.',
    remedy: 'Let the proxy speak HTTPS to the server, or exempt /.well-known/acme-challenge/ from the redirect.',
    symptoms: {
      certbot: 'Type: connection',
      lego: 'acme: error: 400 :: urn:ietf:params:acme:error:connection',
      dehydrated: 'urn:ietf:params:acme:error:connection',
    },
  }),
  entry('order-stays-processing', {
    title: 'The order stays “processing”',
    cause:
      'The CSR is taken, and the certificate doesn’t come: the CA’s queue is stuck. It comes once this break is over, which dehydrated waits for.',
    remedy: 'Look again as Retry-After says, with an end; take the order up again later rather than making another.',
    symptoms: {
      certbot: 'acme.errors.TimeoutError',
      lego: 'time limit exceeded',
      dehydrated: OBTAINS,
    },
  }),
  entry('slow-finalize', {
    title: 'The certificate comes late',
    cause:
      'Under load, a CA needs time after the CSR: the order is “processing” in between, and the client has to look again.',
    remedy: 'Follow the order until it is valid: that finalise was answered doesn’t mean that there is a certificate.',
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
      'The CA now ties accounts to its customers: a new account without `externalAccountBinding` is refused, accounts from before go on (RFC 8555 §7.3.4).',
    remedy: 'Get a key identifier and an HMAC key from the CA, and give both to the client when it registers.',
    symptoms: {
      certbot:
        'Unable to register an account with ACME server. Server requires external account binding. Please use --eab-kid and --eab-hmac-key.',
      lego: 'Server requires External Account Binding. Use --eab with --kid and --hmac.',
      dehydrated: 'This CA requires an external account but no EAB_KID/EAB_HMAC_KEY has been configured',
    },
    selectors: [],
  }),
  entry('profile-gone', {
    title: 'A profile is gone',
    cause:
      'The CA has withdrawn a profile, as Let’s Encrypt does: the directory has it no more, and orders for it are refused.',
    remedy: 'Choose a profile that the directory lists, or none.',
    symptoms: {
      certbot: "AttributeError: can't set attribute",
      lego: 'acme: error: 400 :: urn:ietf:params:acme:error:invalidProfile',
      dehydrated: 'Status 400, urn:ietf:params:acme:error:invalidProfile',
    },
    parameters: [
      {
        name: 'profile',
        description: 'the profile; classic is that of clients that choose none',
        default: 'classic',
        values: ['classic', 'tlsserver', 'shortlived', 'letsencrypt-2027', 'letsencrypt-2028', 'time-lapse'],
      },
    ],
  }),
  entry('authorizations-not-reused', {
    title: 'Validations don’t count again',
    cause:
      'A CA may forget that a name was validated an hour ago, as Let’s Encrypt will from 2028: every order is validated anew.',
    remedy: 'Be able to answer challenges at every renewal, not only at the first issuance.',
    symptoms: EVERY_CLIENT_OBTAINS,
  }),
  entry('renew-now', {
    title: 'The CA asks to renew now',
    cause:
      'Before a mass revocation, the CA moves the suggested window of renewal (ARI, RFC 9773) into the past. Clients without ARI never learn of it.',
    remedy: 'Use a client with ARI, which asks at least daily: certbot from 4.1, lego from 4.22, Caddy from 2.8.',
    symptoms: EVERY_CLIENT_OBTAINS,
  }),
  entry('root-ending', {
    title: 'The root is nearly at its end',
    cause:
      'No certificate outlives what signs it: near the end of its root, a CA issues ever shorter ones. `vivarium doctor` shows the root so.',
    remedy: 'Renew by the certificate’s own dates or by ARI instead of every 60 days; move to the new root in time.',
    symptoms: EVERY_CLIENT_OBTAINS,
    parameters: [{ name: 'days', description: 'days that the root has left', default: 10, min: 1, max: 89 }],
  }),
];

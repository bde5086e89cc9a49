import { z } from 'zod';
import { ACME_LIMITS, ACME_RATE_FORM, type AcmeLimitName, type AcmeRate, readAcmeRate } from './acme-rates.ts';
import { call } from './base.ts';
import { DAY_MS, HOUR_MS, parseDuration } from './duration.ts';
import { about, caName, durationWithin, validationMethod } from './values.ts';

/** `"*"` allows all origins, a list only its own, an empty list none. */
const cors = z.union(
  [
    z.literal('*'),
    z
      .array(
        z
          .string()
          .regex(/^https?:\/\/[^/?#\s]+$/, 'must be an origin such as "http://localhost:5173"')
          .meta({ examples: ['http://localhost:5173'] }),
      )
      .max(100),
  ],
  { error: 'must be "*" or a list of origins such as ["http://localhost:5173"]' },
);

const RESOLVER_MESSAGE = 'must be "local", or an address and a port such as "192.0.2.53:53" or "[2001:db8::53]:53"';

/** The server for verification and CAA queries: Vivarium's own, or another. Other lookups do not use it. */
const resolver = z
  .string()
  .max(64)
  .refine((text) => text === 'local' || readAddress(text) !== null, RESOLVER_MESSAGE)
  .meta({ examples: ['local'] });

/** Address and port of the setting `resolver`, IPv6 in brackets; null for any other text. */
function readAddress(text: string): { address: string; port: number } | null {
  const [, inBrackets, plain = '', digits] = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const isAddress = inBrackets === undefined ? z.ipv4().safeParse(plain) : z.ipv6().safeParse(inBrackets);
  const port = Number(digits);
  return isAddress.success && port >= 1 && port <= 65_535 ? { address: inBrackets ?? plain, port } : null;
}

const UP_TO_48_HOURS = 'must be 48 hours ("PT48H") at most; "PT0S" is none';

/** The CA's name in CAA checks: Vivarium's own, or one to rehearse, such as `letsencrypt.org`. */
const caaIdentity = z.strictObject({
  domain: caName,
  accountUri: z.url('must be a URI such as "https://ca.example/acct/1"').max(1000).nullable(),
  method: validationMethod,
});

const isAddressOrBlock = (text: string): boolean =>
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()].some((schema) => schema.safeParse(text).success);

const trustedProxy = z
  .string()
  .max(64)
  .refine(isAddressOrBlock, 'must be an address or a block of addresses such as "127.0.0.1" or "10.0.0.0/8"')
  .meta({ examples: ['127.0.0.1'] });

const port = z.int().min(1).max(65_535);

const trafficSetting = z.strictObject({
  record: about(z.boolean(), 'record requests'),
  bodies: about(z.boolean(), 'record their bodies too'),
});

export const settingsValues = z.object({
  /** How many refusals in one exhausted rate window ban an API key. */
  banAfter: z.int().min(1).max(1_000_000),
  banDuration: durationWithin(1_000, 366 * DAY_MS, 'must be from one second ("PT1S") to 366 days ("P366D")'),
  cors,
  /**
   * How long the DNS server keeps answering with the previous records after a change: 0 by default, at most 48 hours.
   */
  propagation: durationWithin(0, 48 * HOUR_MS, UP_TO_48_HOURS),
  resolver,
  /** Whether every served hostname has an HTTPS record with its port, where its zone has none. */
  httpsRecords: about(z.boolean(), 'answer HTTPS records with the port'),
  /**
   * Whether DNS over HTTPS lets the system resolve www.gstatic.com, by which Chromium checks the server; otherwise it
   * answers with an address that leads nowhere.
   */
  dohForwardsProbe: about(z.boolean(), 'let the system resolve www.gstatic.com for DNS over HTTPS'),
  /** The delay between a hostname's verification and its issuance: 0 by default, at most 48 hours. */
  issuanceDelay: durationWithin(0, 48 * HOUR_MS, UP_TO_48_HOURS),
  caaIdentity,
  /** The ports on which ACME clients answer http-01 and tls-alpn-01, unless a listener of Vivarium forwards to them. */
  acmeHttpPort: about(port, 'port of http-01 in place of 80'),
  acmeTlsPort: about(port, 'port of tls-alpn-01 in place of 443'),
  /** Whether new ACME accounts need an external account binding, with a key of `acme.createExternalKey`. */
  acmeExternalAccounts: about(z.boolean(), 'require an external account binding for new ACME accounts'),
  acmeLimits: about(z.boolean(), 'limit ACME clients as Let’s Encrypt does'),
  /** Remote perspectives that confirm ACME validations, with the quorum of the Baseline Requirements (3.2.2.9). */
  acmePerspectives: z.array(about(resolver, 'the resolver of a remote perspective')).max(10),
  /** Limits of ACME clients that differ from Let’s Encrypt’s, each as `failedValidations 2 PT1H`. */
  acmeRates: z
    .array(
      about(
        z
          .string()
          .max(100)
          .refine((text) => readAcmeRate(text) !== null, ACME_RATE_FORM),
        'a changed limit of ACME clients',
        'failedValidations 2 PT1H',
      ),
    )
    .max(ACME_LIMITS.length)
    .refine(
      (texts) => new Set(texts.map((text) => text.split(' ', 1)[0])).size === texts.length,
      'may have each limit once; put one count and one time in place of both',
    ),
  /** Whether Traffic records requests, and their bodies. Entries are kept in memory only. */
  traffic: trafficSetting,
  /** Additional names whose values Traffic hides: headers, parameters, JSON members and form fields. */
  secretNames: z
    .array(
      z
        .string()
        .trim()
        .regex(/[\p{L}\p{N}]/u, 'must have a letter or a digit, as "X-Customer-Ref" has')
        .max(200),
    )
    .max(200),
  /**
   * Proxies in front of Vivarium: addresses and CIDR blocks. What their `X-Forwarded-For`, `-Proto`, `-Host` and
   * `-Port` or `Forwarded` say of the client counts for limits, Traffic, links and upstreams.
   */
  trustedProxies: z.array(trustedProxy).max(100),
  /** Whether answers say in `Server-Timing` how long each stage took, for browsers' developer tools. */
  serverTiming: about(z.boolean(), 'add Server-Timing to answers'),
  /**
   * Whether answers have `RateLimit` and `RateLimit-Policy` (IETF draft) beside the rate headers of the specification.
   */
  rateLimitFields: about(z.boolean(), 'add RateLimit and RateLimit-Policy to answers'),
  /** Where the root's private key is kept: in a file only its owner can read, or sealed with the desktop's keyring. */
  caKey: z.enum(['file', 'keyring']),
});
export type Settings = z.infer<typeof settingsValues>;

/** The settings with their texts parsed for the engine; computed once per change. */
export interface SettingsInForce {
  /** How many refusals in one exhausted rate window ban an API key, and for how long. */
  ban: { afterRefusals: number; durationMs: number };
  propagationMs: number;
  issuanceDelayMs: number;
  /** Null selects Vivarium's own DNS server. */
  resolver: { address: string; port: number } | null;
  /** The resolvers of remote perspectives; null selects Vivarium's own DNS server. */
  acmePerspectives: readonly ({ address: string; port: number } | null)[];
  /** The limits of ACME clients that are not Let’s Encrypt’s. */
  acmeRates: ReadonlyMap<AcmeLimitName, AcmeRate>;
}

/** Parses values that the schema above has validated. */
export const settingsInForce = (values: Settings): SettingsInForce => ({
  ban: { afterRefusals: values.banAfter, durationMs: parseDuration(values.banDuration) },
  propagationMs: parseDuration(values.propagation),
  issuanceDelayMs: parseDuration(values.issuanceDelay),
  resolver: readAddress(values.resolver),
  acmePerspectives: values.acmePerspectives.map(readAddress),
  acmeRates: new Map(values.acmeRates.map(readAcmeRate).filter((read) => read !== null)),
});

export const settingsUpdate = z.strictObject({
  ...settingsValues.partial().shape,
  caaIdentity: caaIdentity.partial().optional(),
});

export const settings = {
  get: call('The settings', settingsValues),
  update: call('Change settings; omitted ones stay unchanged', settingsValues, settingsUpdate),
};

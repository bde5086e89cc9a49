import { z } from 'zod';
import { base } from './base.ts';
import { DAY_MS, HOUR_MS, parseDuration } from './duration.ts';
import { caName, durationWithin, validationMethod } from './values.ts';

/** `"*"`: any page may call; a list: these origins only; an empty list: none. */
const cors = z.union(
  [
    z.literal('*'),
    z.array(z.string().regex(/^https?:\/\/[^/?#\s]+$/, 'must be an origin such as "http://localhost:5173"')).max(100),
  ],
  { error: 'must be "*" or a list of origins such as ["http://localhost:5173"]' },
);

const RESOLVER_MESSAGE = 'must be "local", or an address and a port such as "192.0.2.53:53" or "[2001:db8::53]:53"';

/** The server that verification and CAA ask: Vivarium's own, or another one. Names are not looked up for it. */
const resolver = z
  .string()
  .max(64)
  .refine((text) => text === 'local' || readAddress(text) !== null, RESOLVER_MESSAGE)
  .meta({ examples: ['local'] });

/** Address and port as the setting `resolver` has them, IPv6 in brackets; null where the text is something else. */
function readAddress(text: string): { address: string; port: number } | null {
  const [, inBrackets, plain = '', digits] = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const isAddress = inBrackets === undefined ? z.ipv4().safeParse(plain) : z.ipv6().safeParse(inBrackets);
  const port = Number(digits);
  return isAddress.success && port >= 1 && port <= 65_535 ? { address: inBrackets ?? plain, port } : null;
}

const UP_TO_48_HOURS = 'must be 48 hours ("PT48H") at most; "PT0S" is none';

/** Who the CA of custom domains is to CAA records: its own name, or one that is rehearsed, such as `letsencrypt.org`. */
const caaIdentity = z.strictObject({
  domain: caName,
  accountUri: z.url('must be a URI such as "https://ca.example/acct/1"').max(1000).nullable(),
  method: validationMethod,
});

const trafficSetting = z.strictObject({ record: z.boolean(), bodies: z.boolean() });

export const settingsValues = z.object({
  /** How many refusals in one exhausted rate window ban an API key. */
  banAfter: z.int().min(1).max(1_000_000),
  banDuration: durationWithin(1_000, 366 * DAY_MS, 'must be from one second ("PT1S") to 366 days ("P366D")'),
  cors,
  /** How long the DNS server goes on answering with what was there before a change: none by default, 48 hours at most. */
  propagation: durationWithin(0, 48 * HOUR_MS, UP_TO_48_HOURS),
  resolver,
  /** How long after a hostname is verified its certificate is asked for: none by default, 48 hours at most. */
  issuanceDelay: durationWithin(0, 48 * HOUR_MS, UP_TO_48_HOURS),
  caaIdentity,
  /** Whether requests are recorded for Traffic, and whether their bodies are. Kept in memory only. */
  traffic: trafficSetting,
  /** Where the root's private key is kept: in a file for its owner alone, or sealed with the keyring of the desktop's session. */
  caKey: z.enum(['file', 'keyring']),
});
export type Settings = z.infer<typeof settingsValues>;

/** Settings that travel as text, in the form that the engine uses; made once for each change. */
export interface SettingsInForce {
  /** How many refusals in one exhausted rate window ban an API key, and for how long. */
  ban: { afterRefusals: number; durationMs: number };
  propagationMs: number;
  issuanceDelayMs: number;
  /** Null is Vivarium's own DNS server. */
  resolver: { address: string; port: number } | null;
}

/** Reads what the schema above has accepted. */
export const settingsInForce = (values: Settings): SettingsInForce => ({
  ban: { afterRefusals: values.banAfter, durationMs: parseDuration(values.banDuration) },
  propagationMs: parseDuration(values.propagation),
  issuanceDelayMs: parseDuration(values.issuanceDelay),
  resolver: readAddress(values.resolver),
});

export const settings = {
  get: base.route({ summary: 'The settings' }).input(z.strictObject({}).optional()).output(settingsValues),
  update: base
    .route({ summary: 'Change settings; those not named stay' })
    .input(z.strictObject({ ...settingsValues.partial().shape, caaIdentity: caaIdentity.partial().optional() }))
    .output(settingsValues),
};

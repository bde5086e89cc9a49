import type { PageName, Place } from '../navigation/places.ts';
import { optionsOf } from '../lists/options.ts';

/** A value of a setting, as the contract has it. */
export type SettingValue = string | number | boolean | null | readonly string[];

/** How a setting is typed; `optional` text may be empty, and `lines` is a list with one entry a line. */
export type SettingKind = 'count' | 'duration' | 'text' | 'optional' | 'lines' | 'choice';

export interface SettingRow {
  label: string;
  kind: SettingKind;
  /** What it does, in a sentence. */
  hint?: string;
  /** What else is worth knowing, behind an (i). */
  more?: string;
  /** Values to choose from instead of typing. */
  choices?: readonly { value: SettingValue; label: string }[];
  /** The choice that opens a field for another value, and the field's label and hint. */
  other?: { choice: string; label: string; hint?: string };
  placeholder?: string;
  /** Texts that the field suggests. */
  suggestions?: readonly string[];
  /** Further words by which the palette and the search find it. */
  keywords?: readonly string[];
}

export interface SettingsSection {
  /** The panel's heading. */
  title: string;
  /** Where the settings act, and are shown. */
  page: PageName;
  /** Its settings, by their path in the contract; bounds and defaults are the contract's. */
  rows: Readonly<Record<string, SettingRow>>;
}

const yesOrNo = (no: string, yes: string): Pick<SettingRow, 'kind' | 'choices'> => ({
  kind: 'choice',
  choices: [
    { value: false, label: no },
    { value: true, label: yes },
  ],
});

/** The engine's settings: one panel for each section, on the page where they act. */
const SETTINGS = {
  bans: {
    title: 'Bans',
    page: 'limits',
    rows: {
      banAfter: {
        label: 'Refusals that ban a key',
        kind: 'count',
        hint: 'An API key that is refused with 429 this often in one rate window is banned.',
        keywords: ['strikes', '429'],
      },
      banDuration: {
        label: 'Length of a ban',
        kind: 'duration',
        hint: 'Until it ends, the key gets 429, whatever its limits.',
      },
    },
  },
  cors: {
    title: 'CORS',
    page: 'limits',
    rows: {
      cors: {
        label: 'Pages that may read the API’s answers',
        kind: 'lines',
        hint: 'Affects browsers only, not other programs.',
        choices: [
          { value: '*', label: 'Any page' },
          { value: [], label: 'None' },
        ],
        other: {
          choice: 'These origins',
          label: 'Origins',
          hint: 'One per line: scheme, host, and the port if it is not the scheme’s own.',
        },
        placeholder: 'http://localhost:5173',
        keywords: ['origins', 'browser'],
      },
    },
  },
  lookups: {
    title: 'Propagation and resolver',
    page: 'dns',
    rows: {
      propagation: {
        label: 'Propagation',
        kind: 'duration',
        hint: 'How long the DNS server keeps answering with the old records after a change.',
        more: 'It is measured on the simulated clock: move that forward to skip the wait.',
        choices: optionsOf({ PT0S: 'Instant', PT1H: '1 hour', PT48H: '48 hours' }),
        other: { choice: 'Custom', label: 'Delay' },
        keywords: ['dns', 'delay', 'waiting'],
      },
      resolver: {
        label: 'Resolver',
        kind: 'text',
        hint: 'The DNS server that verification and CAA checks query, always over the network.',
        more: 'With a public one, domains of the real DNS can be verified.',
        choices: [{ value: 'local', label: 'Vivarium’s own' }],
        other: {
          choice: 'Another server',
          label: 'Address and port',
          hint: 'An IPv4 address, or an IPv6 address in brackets.',
        },
        placeholder: '192.0.2.53:53',
        keywords: ['lookup'],
      },
    },
  },
  issuance: {
    title: 'Issuance',
    page: 'authority',
    rows: {
      issuanceDelay: {
        label: 'Issuance delay',
        kind: 'duration',
        hint: 'From the verification of a domain to its certificate.',
        more: 'It is measured on the simulated clock: move that forward to skip the wait.',
        choices: optionsOf({ PT0S: 'Instant', PT2M: '2 minutes' }),
        other: { choice: 'Custom', label: 'Delay' },
        keywords: ['certificate', 'delay', 'waiting'],
      },
      'caaIdentity.domain': {
        label: 'CA’s domain',
        kind: 'text',
        hint: 'The issuer in a CAA record that permits issuance.',
        more:
          'To rehearse real records, use the identity of the CA that they name: with letsencrypt.org, a record that ' +
          'lets Let’s Encrypt issue lets Vivarium issue too.',
        keywords: ['issuer', 'caa identity'],
      },
      'caaIdentity.accountUri': {
        label: 'Account',
        kind: 'optional',
        more: '“accounturi” in that record; empty for none.',
        placeholder: 'none',
        keywords: ['accounturi', 'caa identity'],
      },
      'caaIdentity.method': {
        label: 'Method',
        kind: 'text',
        more: '“validationmethods” in that record.',
        // RFC 8657 §4, IANA's ACME Validation Methods.
        suggestions: ['http-01', 'dns-01', 'tls-alpn-01'],
        keywords: ['validationmethods', 'caa identity'],
      },
    },
  },
  requests: {
    title: 'Requests',
    page: 'settings',
    rows: {
      secretNames: {
        label: 'Also hide the values of',
        kind: 'lines',
        hint: 'One per line: header fields, query and form parameters, JSON members.',
        more: 'Credentials, tokens, cookies, passwords and signatures are hidden without being named.',
        placeholder: 'X-Customer-Ref',
        keywords: ['redact', 'privacy', 'secrets in traffic'],
      },
      trustedProxies: {
        label: 'Trusted proxies',
        kind: 'lines',
        hint: 'One address or block per line.',
        more: 'Their X-Forwarded-For, -Proto, -Host and -Port, or Forwarded, describe the client.',
        placeholder: '127.0.0.1',
        keywords: ['x-forwarded-for', 'load balancer', 'proxies in front'],
      },
    },
  },
  answers: {
    title: 'Answers',
    page: 'settings',
    rows: {
      rateLimitFields: {
        label: 'Rate limits',
        ...yesOrNo('X-RateLimit only', 'RateLimit too'),
        hint: 'RateLimit and RateLimit-Policy, of an IETF draft, name both windows.',
        keywords: ['x-ratelimit', 'quota', 'header fields'],
      },
      serverTiming: {
        label: 'Server-Timing',
        ...yesOrNo('Off', 'On'),
        hint: 'How long each stage took, for the developer tools of browsers.',
        keywords: ['latency'],
      },
      httpsRecords: {
        label: 'HTTPS records',
        ...yesOrNo('Off', 'On'),
        hint: 'Tell browsers the HTTPS port of each served hostname whose zone has no such record.',
        keywords: ['dns'],
      },
      dohForwardsProbe: {
        label: 'Chromium’s test of secure DNS',
        ...yesOrNo('An unused address', 'The real address'),
        hint: 'Chromium looks www.gstatic.com up at a DNS-over-HTTPS server before it uses it.',
        keywords: ['doh', 'probe'],
      },
    },
  },
} as const satisfies Record<string, SettingsSection>;

export type SettingsSectionName = keyof typeof SETTINGS;

export const SECTION_NAMES = Object.keys(SETTINGS) as SettingsSectionName[];

/** A section with its optional members. */
export const sectionOf = (name: SettingsSectionName): SettingsSection => SETTINGS[name];

/** Where the setting with a label is; without one of that label, the page of the others. */
export function placeOfField(label: string): Place {
  const section = SECTION_NAMES.map(sectionOf).find(({ rows }) =>
    Object.values(rows).some((row) => row.label === label),
  );
  return { page: section?.page ?? 'settings', query: { field: label } };
}

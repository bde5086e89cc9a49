import type { EpochMs } from '../../base/clock.ts';
import type { CheckCode } from '../../contract/check-codes.ts';
import type { CertificateState } from '../../contract/domains.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../contract/duration.ts';
import { PERSONA_IDS, PERSONA_NAMES, type PersonaId } from '../../contract/provider-table.ts';

/**
 * The retry intervals of something that has not succeeded yet: an interval for each period since it began, in order.
 * After the last period it is given up.
 */
export type Rhythm = readonly { readonly everyMs: number; readonly untilMs: number }[];

/** The interval at which ACME clients retry a failed validation; given up after half an hour. */
export const ISSUANCE_RHYTHM: Rhythm = [{ everyMs: 5 * MINUTE_MS, untilMs: 30 * MINUTE_MS }];

/** How long a rhythm lasts, in milliseconds. */
export const lengthOf = (rhythm: Rhythm): number => rhythm.at(-1)?.untilMs ?? 0;

/** The next try of a series that began at `sinceMs`; null when there is none. */
export function nextTry(rhythm: Rhythm, sinceMs: EpochMs, nowMs: EpochMs): EpochMs | null {
  const part = rhythm.find(({ untilMs }) => nowMs - sinceMs < untilMs);
  return part === undefined ? null : Math.min(nowMs + part.everyMs, sinceMs + lengthOf(rhythm));
}

/** A rhythm from the waits between its tries, in milliseconds. */
function rhythmOf(waitsMs: readonly number[]): Rhythm {
  let untilMs = 0;
  return waitsMs.map((everyMs) => ({ everyMs, untilMs: (untilMs += everyMs) }));
}

/** How a persona decides that a hostname belongs to this project. */
export type ClaimRule =
  /** The records that lead here are enough, also below a domain of another project. */
  | 'none'
  /** Warns if another project has a domain above it, and shows the TXT record that settles the claim. */
  | 'warned'
  /** Requires a TXT record if another project has a domain above it, until the hostname is verified. */
  | 'contested'
  /** Refuses to attach below a domain of another project; no record can change that. */
  | 'unique'
  /** Refuses if another project has a TXT record at the name or its parent. */
  | 'reserved'
  /** Accepts a TXT record instead of the record that leads here, which must otherwise lead to this project. */
  | 'alternative'
  /** Requires the persona's TXT record, unless a CNAME leads to this project, until the hostname is verified. */
  | 'unless_cname'
  /** Requires TXT records until the hostname is verified. */
  | 'required';

/** The states of a hostname that a persona has words for. */
export type Situation = 'unchecked' | 'unproven' | 'wrong' | 'verified' | 'moved';

/** A provider as data: its requirements for custom domains, the times of its checks, and its words. */
export interface Persona {
  readonly id: PersonaId;
  readonly name: string;
  /** The target of CNAMEs: one name for all customers, or the project's own. */
  readonly target: 'shared' | 'project';
  /** Whether the target may be any name of the platform. */
  readonly takesAnyTarget: boolean;
  /** Whether a subdomain may have the platform's addresses instead of a CNAME. */
  readonly takesAddresses: boolean;
  /** The record type that it requires at an apex. */
  readonly apex: 'ALIAS' | 'A';
  readonly claim: ClaimRule;
  /** The TXT records that prove a claim, one label below the hostname; a value is a UUID, or ends in a token of `length`. */
  readonly proofs: readonly { readonly label: string; readonly prefix?: string; readonly length?: number }[];
  /** When an unverified hostname is checked; null: daily, without end. */
  readonly checks: Rhythm | null;
  /** When a first certificate is attempted. */
  readonly issuance: Rhythm;
  /** `{hostname}` in a text is replaced by the hostname. */
  readonly words: {
    readonly hostname: Partial<Record<Situation, string>>;
    /** `refused`: pending, and the last attempt was refused. */
    readonly certificate: Partial<Record<CertificateState | 'refused', string>>;
    readonly problems: Partial<Record<CheckCode, string>>;
    /** For a hostname that belongs to another project. */
    readonly inUse?: string;
  };
}

const OWN: Persona = {
  id: 'animal-store',
  name: PERSONA_NAMES['animal-store'],
  target: 'shared',
  takesAnyTarget: false,
  takesAddresses: false,
  apex: 'ALIAS',
  claim: 'warned',
  proofs: [],
  checks: null,
  issuance: ISSUANCE_RHYTHM,
  words: { hostname: {}, certificate: {}, problems: {} },
};

/** Every five minutes for an hour, then hourly: for providers that publish only the total time, not the intervals. */
const often = (lengthMs: number): Rhythm => [
  { everyMs: 5 * MINUTE_MS, untilMs: HOUR_MS },
  { everyMs: HOUR_MS, untilMs: lengthMs },
];

/** Every ten minutes for 24 hours, then hourly for two days (answers.netlify.com/t/39865). */
const NETLIFY_RHYTHM: Rhythm = [
  { everyMs: 10 * MINUTE_MS, untilMs: DAY_MS },
  { everyMs: HOUR_MS, untilMs: 3 * DAY_MS },
];

/**
 * 75 tries within seven days: `floor(60 × 1.05^n)` seconds before the first ten, `floor(60 × 1.15^n)` after, and four
 * hours at most (cloudflare-docs, `hostname-validation/backoff-schedule.mdx`).
 */
const CLOUDFLARE_RHYTHM = rhythmOf(
  Array.from({ length: 75 }, (_, n) => 1_000 * Math.min(Math.floor(60 * (n < 10 ? 1.05 : 1.15) ** n), 14_400)),
);

const NETLIFY_CHALLENGE = 'SniCertificate::CertificateValidationError: Unable to verify challenge';
/** Let’s Encrypt’s words, which providers pass on. */
const AUTHORITY_CAA = 'CAA record for {hostname} prevents issuance';
const NOT_TO_ZONE = 'custom hostname does not CNAME to this zone.';

/** One text for several states or problems. */
const same = <Key extends string>(text: string, keys: readonly Key[]) =>
  Object.fromEntries(keys.map((key) => [key, text])) as Partial<Record<Key, string>>;

type Provider = Partial<Omit<Persona, 'id' | 'name' | 'words'>> & { readonly words: Partial<Persona['words']> };

/**
 * From providers' public documentation and their users' reports, 2023 to 2026. Unpublished values are those of the
 * platform's own persona; `docs/provider-personas.md` lists them.
 */
const DOCUMENTED: Readonly<Record<Exclude<PersonaId, 'animal-store'>, Provider>> = {
  vercel: {
    takesAddresses: true,
    apex: 'A',
    claim: 'contested',
    // Its page checks every 20 seconds; here for ten minutes, then daily.
    checks: [
      { everyMs: 20_000, untilMs: 10 * MINUTE_MS },
      { everyMs: DAY_MS, untilMs: Infinity },
    ],
    words: {
      hostname: {
        ...same('Invalid Configuration', ['unchecked', 'wrong', 'moved']),
        unproven: 'Pending Verification',
        verified: 'Valid Configuration',
      },
      problems: {
        txt_missing: 'pending_domain_verification',
        ...same('Invalid Configuration', ['no_record', 'wrong_target', 'alias_mismatch', 'a_conflict']),
      },
    },
  },
  netlify: {
    target: 'project',
    takesAnyTarget: true,
    apex: 'A',
    claim: 'unique',
    checks: NETLIFY_RHYTHM,
    issuance: NETLIFY_RHYTHM,
    words: {
      hostname: same('Check DNS configuration', ['unchecked', 'wrong', 'moved']),
      problems: same(NETLIFY_CHALLENGE, ['caa_forbids', 'caa_on_target', 'caa_lookup_failed', 'timed_out']),
      inUse: 'must be unique',
    },
  },
  'github-pages': {
    target: 'project',
    takesAnyTarget: true,
    apex: 'A',
    claim: 'reserved',
    // Certificates come within an hour by its documentation, and within a day by its users' reports.
    issuance: often(DAY_MS),
    words: {
      hostname: {
        unchecked: 'DNS Check in Progress',
        wrong: 'DNS check unsuccessful',
        verified: 'DNS check successful',
        moved: 'DNS check unsuccessful',
      },
      certificate: {
        pending: 'Certificate Requested',
        refused: 'Certificate Request Error',
        failed: 'Certificate Request Error',
        issued: 'approved',
      },
      problems: {
        ...same('InvalidDNSError', ['no_record', 'zone_doubled', 'ns_mismatch', 'lookup_failed']),
        wrong_target: 'InvalidCNAMEError',
        stale_target: 'InvalidCNAMEError',
        a_conflict: 'InvalidARecordError',
        alias_mismatch: 'NotServedByPagesError',
        not_served: 'NotServedByPagesError',
        wildcard_risk: 'WildcardRecordError',
        caa_forbids: 'bad_authz',
        caa_on_target: 'bad_authz',
        caa_lookup_failed: 'caa_error',
        moved: 'dns_changed',
        timed_out: 'errored',
        claimed_elsewhere: 'You must verify your domain {hostname} before being able to use it.',
      },
      inUse: 'The custom domain `{hostname}` is already taken.',
    },
  },
  cloudflare: {
    target: 'project',
    claim: 'alternative',
    proofs: [{ label: '_cf-custom-hostname' }],
    checks: CLOUDFLARE_RHYTHM,
    issuance: CLOUDFLARE_RHYTHM,
    words: {
      hostname: { unchecked: 'Pending', unproven: 'Pending', wrong: 'Pending', verified: 'Active', moved: 'Moved' },
      certificate: {
        none: 'Initializing',
        pending: 'Pending Issuance',
        refused: 'Pending Validation',
        issued: 'Active',
        failed: 'validation_timed_out',
        expired: 'expired',
      },
      problems: {
        ...same(NOT_TO_ZONE, ['no_record', 'zone_doubled', 'wrong_target']),
        ...same(NOT_TO_ZONE, ['stale_target', 'a_conflict', 'alias_mismatch']),
        txt_missing:
          'None of the A or AAAA records are owned by this account and the pre-generated ownership validation token was not found.',
      },
    },
  },
  mintlify: {
    claim: 'required',
    proofs: [{ label: '_cf-custom-hostname' }, { label: '_acme-challenge', length: 43 }],
    // TXT records are usually visible in five minutes, and propagate within 48 hours; certificates take up to a day.
    checks: often(2 * DAY_MS),
    issuance: often(DAY_MS),
    words: {
      hostname: { unchecked: 'Pending', unproven: 'Pending', wrong: 'Pending' },
      inUse: 'Domain is already claimed by another organization',
    },
  },
  fly: {
    target: 'project',
    takesAddresses: true,
    apex: 'A',
    claim: 'unless_cname',
    proofs: [{ label: '_fly-ownership', prefix: 'app-', length: 10 }],
    words: {
      hostname: same('Awaiting configuration', ['unchecked', 'unproven', 'wrong', 'moved']),
      certificate: { pending: 'Awaiting certificates', refused: 'Awaiting certificates', issued: 'Ready' },
      problems: { caa_forbids: AUTHORITY_CAA, caa_on_target: AUTHORITY_CAA },
    },
  },
  render: {
    target: 'project',
    apex: 'A',
    claim: 'none',
    words: {
      hostname: { ...same('DNS update needed', ['unchecked', 'wrong', 'moved']), verified: 'Verified' },
      certificate: { pending: 'Certificate Pending', refused: 'Certificate Pending' },
      problems: { caa_forbids: AUTHORITY_CAA, caa_on_target: AUTHORITY_CAA },
    },
  },
  railway: {
    target: 'project',
    claim: 'required',
    proofs: [{ label: '_railway-verify', prefix: 'railway-verify=', length: 64 }],
    // Changes of DNS, and certificates, may take 72 hours.
    checks: often(3 * DAY_MS),
    issuance: often(3 * DAY_MS),
    words: {
      certificate: { pending: 'Validating Challenges', refused: 'Validating Challenges' },
      problems: { caa_forbids: AUTHORITY_CAA, caa_on_target: AUTHORITY_CAA },
    },
  },
};

const asPersona = (id: keyof typeof DOCUMENTED): Persona => {
  const provider = DOCUMENTED[id];
  return { ...OWN, ...provider, id, name: PERSONA_NAMES[id], words: { ...OWN.words, ...provider.words } };
};

export const PERSONAS = Object.fromEntries(
  PERSONA_IDS.map((id) => [id, id === 'animal-store' ? OWN : asPersona(id)]),
) as Readonly<Record<PersonaId, Persona>>;

export const wordsFor = (text: string, hostname: string): string => text.replaceAll('{hostname}', hostname);

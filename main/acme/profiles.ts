import { DAY_MS, HOUR_MS, MINUTE_MS, parseDuration } from '../contract/duration.ts';

/** A CAA result is valid for eight hours (RFC 8659 §5.6, Baseline Requirements 3.2.2.8). */
export const CAA_VALID_MS = 8 * HOUR_MS;

/** The lifetime of certificates, and how long validations can be reused. */
export interface Profile {
  /** Lifetime of the certificate on the app's clock. */
  readonly lifetimeMs: number;
  /** Lifetime of the certificate in real time, if it differs. */
  readonly wireLifetimeMs?: number;
  /** How long a valid authorization can be reused. */
  readonly authorizationMs: number;
  /** Text for people (draft-ietf-acme-profiles §3). */
  readonly description: string;
}

const PROFILES: ReadonlyMap<string, Profile> = new Map([
  [
    'classic',
    { lifetimeMs: 90 * DAY_MS, authorizationMs: 30 * DAY_MS, description: 'Certificates for 90 days, the default.' },
  ],
  ['tlsserver', { lifetimeMs: 45 * DAY_MS, authorizationMs: 30 * DAY_MS, description: 'Certificates for 45 days.' }],
  [
    'shortlived',
    { lifetimeMs: 160 * HOUR_MS, authorizationMs: 30 * DAY_MS, description: 'Certificates for 160 hours.' },
  ],
  [
    'letsencrypt-2027',
    {
      lifetimeMs: 64 * DAY_MS,
      authorizationMs: 10 * DAY_MS,
      description: 'As Let’s Encrypt from 10 February 2027: 64 days, authorizations for 10 days.',
    },
  ],
  [
    'letsencrypt-2028',
    {
      lifetimeMs: 45 * DAY_MS,
      authorizationMs: 7 * HOUR_MS,
      description: 'As Let’s Encrypt from 16 February 2028: 45 days, authorizations for 7 hours.',
    },
  ],
  [
    'time-lapse',
    {
      lifetimeMs: 90 * DAY_MS,
      wireLifetimeMs: 90 * MINUTE_MS,
      authorizationMs: 30 * DAY_MS,
      description: 'Certificates that clients see expire after 90 minutes instead of 90 days.',
    },
  ],
]);

/** The profile of a directory URL without a profile. */
export const DEFAULT_PROFILE = 'classic';

/** The shortest lifetime of a certificate in real time: its dates have whole seconds. */
const WIRE_MS_MIN = 2_000;

/** Finds a profile by name. With `classic@1s`, one day of a certificate’s life takes one second for clients. */
export function findProfile(name: string): Profile | undefined {
  const [, known = name, day] = /^([a-z0-9-]+)@(\d{1,6}(?:ms|s|m|h))$/.exec(name) ?? [];
  const profile = PROFILES.get(known);
  if (profile === undefined || day === undefined) return profile;
  const wireLifetimeMs = (profile.lifetimeMs / DAY_MS) * parseDuration(day);
  return wireLifetimeMs < WIRE_MS_MIN || wireLifetimeMs > profile.lifetimeMs
    ? undefined
    : { ...profile, wireLifetimeMs };
}

export const describeProfiles = (): Record<string, string> =>
  Object.fromEntries([...PROFILES].map(([name, { description }]) => [name, description]));

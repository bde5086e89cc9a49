import { orElse } from './errors.ts';
import { DAY_MS, formatSpan, parseDuration } from './duration.ts';

/** The limits of ACME clients, named as in Boulder. */
export const ACME_LIMITS = [
  'newAccounts',
  'newAccountsPerRange',
  'newOrders',
  'certificatesPerDomain',
  'certificatesPerSet',
  'failedValidations',
  'consecutiveFailures',
] as const;
export type AcmeLimitName = (typeof ACME_LIMITS)[number];

/** A count per period, refilled evenly. */
export interface AcmeRate {
  readonly count: number;
  readonly periodMs: number;
}

/** `50 in 7 days`; refilled by one a day, `1,152, and one more each day`. */
export function describeAcmeRate({ count, periodMs }: AcmeRate): string {
  const text = count.toLocaleString('en');
  return periodMs === count * DAY_MS ? `${text}, and one more each day` : `${text} in ${formatSpan(periodMs)}`;
}

export const ACME_RATE_FORM =
  'must be a limit, a count and a time, such as "failedValidations 2 PT1H", from one second to 10,000 days; ' +
  `limits are ${ACME_LIMITS.join(', ')}`;

/** Parses a changed limit: `failedValidations 2 PT1H`. Null for any other text. */
export function readAcmeRate(text: string): readonly [limit: AcmeLimitName, rate: AcmeRate] | null {
  const [, name, digits, period = ''] = /^(\w+) ([1-9]\d{0,5}) (\S.{0,50})$/.exec(text) ?? [];
  const limit = ACME_LIMITS.find((known) => known === name);
  const periodMs = limit === undefined ? 0 : orElse(() => parseDuration(period), 0);
  const isFit = periodMs >= 1_000 && periodMs <= 10_000 * DAY_MS;
  return limit === undefined || !isFit ? null : [limit, { count: Number(digits), periodMs }];
}

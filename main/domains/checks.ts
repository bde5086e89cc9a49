import type { Check, CheckCode } from '../contract/domains.ts';
import type { LookupFailure } from '../model/dns-lookup.ts';
import { CNAME_HOPS_MAX, delegationText, type Resolution } from './resolution.ts';

/** What a check of the hostname, before its certificate, can find, in the order in which it is told. */
export const VERIFICATION_CODES = [
  'no_record',
  'lookup_failed',
  'wrong_target',
  'a_conflict',
  'cname_at_apex',
  'alias_mismatch',
  'alias_unsupported',
  'chain_loop',
  'chain_too_long',
  'not_propagated',
  'moved',
  'wildcard_risk',
] as const satisfies readonly CheckCode[];

export type VerificationCode = (typeof VERIFICATION_CODES)[number];

/** A check of verification; `code` names what was looked at, `outcome` what came of it. */
export type VerificationCheck = Check & { code: VerificationCode };

export const inOrder = (checks: readonly VerificationCheck[]): VerificationCheck[] =>
  VERIFICATION_CODES.flatMap((code) => checks.filter((check) => check.code === code));

/** `unknown`: a question was not answered, and nothing else speaks against the domain. */
export type VerificationVerdict = 'ok' | 'failed' | 'unknown';

/** What the lifecycle goes by. No checks at all are no knowledge. */
export function verdictOf(checks: readonly Check[]): VerificationVerdict {
  if (checks.some(({ outcome }) => outcome === 'failed')) return 'failed';
  return checks.length === 0 || checks.some(({ outcome }) => outcome === 'unknown') ? 'unknown' : 'ok';
}

/** Whether nothing wrong was seen, only nothing yet: such a domain is `pending`, not `misconfigured`. */
export const hasFoundNothing = (checks: readonly Check[]): boolean =>
  verdictOf(checks) !== 'ok' &&
  checks.every(({ code, outcome }) => outcome !== 'failed' || code === 'no_record' || code === 'not_propagated');

/** What the fixes of one domain are written with. */
export interface Wanted {
  hostname: string;
  /** The record that should be there: `CNAME cname.vivarium.localhost`. */
  expected: string;
  /** The same as a line of the zone: `www CNAME cname.vivarium.localhost`. */
  line: string;
  /** The zone that the line belongs into. */
  zone: string;
}

/** Nothing at the name at all; `missing` names the types that were asked for. */
export function noRecordCheck(wanted: Wanted, { end, source }: Resolution, missing: string): VerificationCheck {
  const { hostname, expected, line, zone } = wanted;
  const check = { code: 'no_record', outcome: 'failed', expected } as const;
  switch (end.kind) {
    case 'outside':
      return {
        ...check,
        found: 'no zone',
        message: `${hostname} is in no zone of Vivarium’s DNS.`,
        fix: `Create the zone ${zone}, and add this record to it: ${line}`,
      };
    case 'delegated':
      return {
        ...check,
        found: `delegated to ${end.servers.join(', ')}`,
        message: `${hostname} is ${delegationText(hostname, end)}, so the zone ${zone} has no say in it.`,
        fix: `Remove the NS records of ${end.cut} from the zone ${zone}, and have this record there: ${line}${end.cut === hostname ? '' : `. Or create the zone ${end.cut} here for the names below it.`}`,
      };
    case 'nxdomain':
      return {
        ...check,
        found: 'NXDOMAIN',
        message: `${hostname} does not exist (NXDOMAIN from ${source.name}).`,
        fix: `Add this record to the zone ${zone}: ${line}`,
      };
    default:
      return {
        ...check,
        found: `no ${missing}`,
        message: `${hostname} exists, and has no ${missing} record (${source.name}).`,
        fix: `Add this record to the zone ${zone}: ${line}`,
      };
  }
}

/** A loop, or a chain without an end; null when the resolution is neither. */
export function chainCheck(wanted: Wanted, { name, chain, end }: Resolution): VerificationCheck | null {
  const found = [name, ...chain].join(' → ');
  const base = { outcome: 'failed', expected: wanted.expected, found } as const;
  if (end.kind === 'loop') {
    return {
      ...base,
      code: 'chain_loop',
      message: `The CNAMEs from ${name} lead around in a circle, so they end nowhere.`,
      fix: `Break the circle with this record in the zone ${wanted.zone}: ${wanted.line}`,
    };
  }
  if (end.kind !== 'too_long') return null;
  return {
    ...base,
    code: 'chain_too_long',
    message: `More than ${CNAME_HOPS_MAX} CNAMEs follow one another from ${name}; resolvers give up on such chains.`,
    fix: `Go there directly, with this record in the zone ${wanted.zone}: ${wanted.line}`,
  };
}

const FAILURES: Record<LookupFailure, { found: string; happened: string; fix: string }> = {
  servfail: {
    found: 'SERVFAIL',
    happened: 'was answered with SERVFAIL',
    fix: 'Look for what is broken at the name servers of the zone (an ALIAS that leads nowhere, DNSSEC, a server that is down), then re-verify.',
  },
  refused: {
    found: 'REFUSED',
    happened: 'was REFUSED',
    fix: 'Choose a resolver in the settings that answers recursive questions, then re-verify.',
  },
  referral: {
    found: 'a referral',
    happened: 'was answered with a referral to other servers only',
    fix: 'Choose a resolver in the settings that answers recursive questions, then re-verify.',
  },
  rcode: { found: 'an error', happened: 'was answered with an error', fix: 'Ask again in a while: re-verify.' },
  timeout: {
    found: 'no answer in time',
    happened: 'was not answered in time',
    fix: 'See whether the resolver in the settings runs and can be reached, then re-verify.',
  },
  unreachable: {
    found: 'resolver unreachable',
    happened: 'could not be brought',
    fix: 'See whether the resolver in the settings is right and can be reached, then re-verify.',
  },
  malformed: {
    found: 'unreadable answer',
    happened: 'was answered with a message that cannot be read',
    fix: 'Choose another resolver in the settings, then re-verify.',
  },
  chain_loop: {
    found: 'a loop of CNAMEs',
    happened: 'leads around in a loop of CNAMEs',
    fix: 'Break the loop at the name where it begins, then re-verify.',
  },
  chain_too_long: {
    found: 'too many CNAMEs',
    happened: 'leads through too many CNAMEs',
    fix: 'Shorten the chain of CNAMEs, then re-verify.',
  },
};

/** The failure of a resolution; a chain without an end counts as one where only its end was wanted. Null: it succeeded. */
function failureOf({ end }: Resolution): { reason: LookupFailure; detail?: string } | null {
  if (end.kind === 'failed') return end;
  if (end.kind === 'loop') return { reason: 'chain_loop' };
  return end.kind === 'too_long' ? { reason: 'chain_too_long' } : null;
}

/** Questions that were not answered, told as one check by the first of them; null when there is none. */
export function lookupCheck(resolutions: readonly Resolution[], expected: string): VerificationCheck | null {
  const failed = resolutions.flatMap((resolution) => {
    const failure = failureOf(resolution);
    return failure === null ? [] : [{ resolution, failure }];
  });
  const [first] = failed;
  if (first === undefined) return null;
  const { name, chain, source } = first.resolution;
  const same = failed.filter(({ resolution }) => resolution.name === name);
  const types = [...new Set(same.map(({ resolution }) => resolution.type))].join(', ');
  const { found, happened, fix } = FAILURES[first.failure.reason];
  const at = chain.at(-1);
  const by = first.failure.reason === 'unreachable' ? 'to' : 'by';
  const through = at === undefined ? '' : `, which leads to ${at},`;
  return {
    code: 'lookup_failed',
    outcome: 'unknown',
    expected,
    found: `${found}${first.failure.detail === undefined ? '' : `: ${first.failure.detail}`} (${source.name})`,
    message: `The question for ${types} of ${name}${through} ${happened} ${by} ${source.name}, so it is not known whether the domain is right.`,
    fix,
  };
}

/** A resolution along CNAMEs in words: `a.example.net → b.example.net`. */
export const chainText = (chain: readonly string[]): string => chain.join(' → ');

import { mentionsOf } from '../../../main/contract/calls.ts';
import { breaksMet } from '../../../main/contract/break-words.ts';
import { CHECK_CODES, type CheckCode } from '../../../main/contract/check-codes.ts';
import type { Check, Domain } from '../../../main/contract/domains.ts';
import type { IconName } from '../display/icons.ts';
import type { Tone } from '../display/tone.ts';

export const troubleOf = (code: CheckCode): string => CHECK_CODES[code].title;

/** Replaces messages whose detail the CAA walk shows. */
export const IN_WALK: Partial<Record<CheckCode, string>> = {
  caa_forbids: '',
  caa_on_target: 'The CAA records of the CNAME’s target forbid it.',
  caa_lookup_failed: 'The CAA records are unknown, which forbids issuance.',
};

const reasonOf = ({ code, message }: Check) => ({ reason: IN_WALK[code] ?? message });

/** The fix that the interface offers. */
export type SummaryAction = 'verify' | 'renew' | 'plan' | 'clock' | 'root';

/** The overall state of a domain, and the next step. */
export interface Summary {
  tone: Exclude<Tone, 'neutral'>;
  icon: IconName;
  /** A few words, for the list and above the detail. */
  title: string;
  /** The check's own message, which comes first. */
  reason?: string;
  /** What that means, in one or two sentences. */
  text: string;
  /** The next scheduled event. */
  due?: { what: string; at: string };
  action?: SummaryAction;
  /** For `root`: the suffix to add to its constraints. */
  suffix?: string;
}

/** The next check of the domain: for a propagating record, when it becomes visible. */
export const nextCheckOf = ({ nextCheckAt, checks }: Pick<Domain, 'nextCheckAt' | 'checks'>): string | undefined =>
  [nextCheckAt, ...checks.map(({ until }) => until)]
    .filter((at) => at !== undefined)
    .toSorted((a, b) => Date.parse(a) - Date.parse(b))[0];

/** Suspension first, then faults of the hostname, then of its certificate. */
export function summaryOf(domain: Domain): Summary {
  if (domain.state === 'suspended') return SUSPENDED;
  const trouble = troubleIn(domain);
  if (domain.state !== 'verified') return hostnameSummary(domain, trouble);
  return certificateSummary(domain, trouble);
}

/** The summary while breaks strike at the hostname: what is served is not what clients get. */
export const underBreaks = (summary: Summary, breaks: readonly { entry: string }[]): Summary =>
  breaksMet(breaks).length === 0 || summary.tone !== 'moss'
    ? summary
    : {
        tone: 'amber',
        icon: 'breaks',
        title: 'Served, but broken on purpose',
        text: '',
      };

const SUSPENDED: Summary = {
  tone: 'amber',
  icon: 'pause',
  title: 'Suspended by the plan',
  text: 'The project fell back to the Free plan, which has no custom domains, so this one is not served. It stays attached, and is restored with the plan.',
  action: 'plan',
};

/** The check that names the cause: a failed one before one that could not be made; `timed_out` is only a consequence. */
export function troubleIn({ checks }: Pick<Domain, 'checks'>): Check | undefined {
  const causes = checks.filter(({ code }) => code !== 'timed_out');
  return causes.find(({ outcome }) => outcome === 'failed') ?? causes.find(({ outcome }) => outcome === 'unknown');
}

/** Whether the domain needs action by the user; pending steps complete on their own. */
export function needsAttention(domain: Domain): boolean {
  const { tone } = summaryOf(domain);
  return tone === 'amber' || tone === 'brick';
}

function hostnameSummary(domain: Domain, trouble: Check | undefined): Summary {
  const { state, lastCheckedAt, verifiedAt } = domain;
  if (trouble === undefined) {
    if (lastCheckedAt === undefined) return NEVER_CHECKED;
    return { ...NEVER_CHECKED, title: 'Not verified', text: 'Verify it again to see why.' };
  }
  if (trouble.code === 'not_propagated') {
    return {
      tone: 'water',
      icon: 'waiting',
      title: troubleOf('not_propagated'),
      text: 'The right record is stored, and DNS still answers with the old one. The domain is checked automatically once the record is visible.',
      ...(trouble.until !== undefined && { due: { what: 'Visible in', at: trouble.until }, action: 'clock' as const }),
    };
  }
  const unknown = trouble.outcome === 'unknown';
  return {
    tone: unknown || state === 'pending' ? 'amber' : 'brick',
    icon: unknown ? 'unknown' : state === 'pending' ? 'pending' : 'failed',
    title: troubleOf(trouble.code),
    reason: trouble.message,
    text: verifiedAt === undefined ? '' : 'It is still served to clients that reach it.',
    action: 'verify',
  };
}

const NEVER_CHECKED: Summary = {
  tone: 'amber',
  icon: 'pending',
  title: 'Waiting for the record',
  text: 'Add the record below at the DNS provider, then verify. A certificate is issued automatically after that.',
  action: 'verify',
};

function certificateSummary({ certificate }: Domain, trouble: Check | undefined): Summary {
  const { state, nextAttemptAt, renewAt } = certificate;
  const why = trouble === undefined ? {} : reasonOf(trouble);
  const attempt = nextAttemptAt === undefined ? {} : { due: { what: 'Next attempt in', at: nextAttemptAt } };
  switch (state) {
    case 'none':
      return {
        tone: 'amber',
        icon: 'unlocked',
        title: 'No certificate',
        ...why,
        text: 'Served over HTTP only.',
        action: 'verify',
      };
    case 'pending':
      if (trouble !== undefined) {
        return {
          tone: trouble.outcome === 'unknown' ? 'amber' : 'brick',
          icon: 'refused',
          title: troubleOf(trouble.code),
          ...why,
          text: 'Served over HTTP only.',
          ...attempt,
          ...fixOf(trouble),
        };
      }
      return {
        tone: 'water',
        icon: 'waiting',
        title: troubleOf('issuance_pending'),
        text: 'Verified, and served over HTTP. The certificate is issued automatically.',
        ...(nextAttemptAt !== undefined && { due: { what: 'Issued in', at: nextAttemptAt }, action: 'clock' as const }),
      };
    case 'failed':
      return {
        tone: 'brick',
        icon: 'refused',
        title: troubleOf(trouble?.code ?? 'timed_out'),
        ...why,
        text: 'Served over HTTP only. Issuance failed for 30 minutes; verifying again restarts it.',
        ...(trouble === undefined ? { action: 'verify' } : fixOf(trouble)),
      };
    case 'expired':
      return {
        tone: 'brick',
        icon: 'refused',
        title: 'The certificate has expired',
        ...why,
        text: 'Served over HTTP only.',
        ...attempt,
        ...(trouble === undefined ? { action: 'verify' } : fixOf(trouble)),
      };
    case 'issued':
      if (trouble === undefined) return HEALTHY;
      return {
        ...renewalSummary(trouble),
        ...(renewAt === undefined ? attempt : { due: { what: 'Renewal in', at: renewAt } }),
      };
  }
}

/** Faults of the certificate only; the hostname is correct. */
const OF_CERTIFICATE: ReadonlySet<CheckCode> = new Set(['caa_forbids', 'caa_lookup_failed', 'suffix_not_permitted']);

/** There is a fault, but the current certificate remains valid. */
function renewalSummary(trouble: Check): Summary {
  const { code, outcome } = trouble;
  const ofCertificate = OF_CERTIFICATE.has(code);
  return {
    tone: 'amber',
    icon: outcome === 'unknown' ? 'unknown' : 'warning',
    title: ofCertificate ? `Renewal: ${lowerFirst(troubleOf(code))}` : troubleOf(code),
    ...reasonOf(trouble),
    text: `Served over HTTP and HTTPS${ofCertificate ? ' as long as the certificate is valid' : ''}.`,
    ...fixOf(trouble),
  };
}

/** The fix contains the suffix, as the argument of the call that adds it. */
function fixOf({ code, fix }: Check): Pick<Summary, 'action' | 'suffix'> {
  const suffix = code === 'suffix_not_permitted' ? mentionsOf(fix ?? '')[0]?.input['suffix'] : undefined;
  return typeof suffix !== 'string' ? { action: 'verify' } : { action: 'root', suffix };
}

const HEALTHY: Summary = {
  tone: 'moss',
  icon: 'ok',
  title: 'Served over HTTP and HTTPS',
  text: 'The record points here, and the certificate renews automatically.',
};

const lowerFirst = (text: string): string =>
  text.startsWith('CAA') ? text : text.charAt(0).toLowerCase() + text.slice(1);

import { DOMAIN_PLANS } from './plans.ts';

interface CodeFacts {
  /** What finds it: an attempt to attach, verification of the records, or issuance. */
  about: 'attach' | 'record' | 'certificate';
  /** The problem in a few words, for a list. */
  title: string;
  /** Whether something is only missing so far, and nothing is wrong. */
  absent?: true;
}

/** Every problem that a check or an attach can find, in display order; each has its own message and fix. */
export const CHECK_CODES = {
  hostname_invalid: { about: 'attach', title: 'Not a hostname' },
  hostname_reserved: { about: 'attach', title: 'A reserved name' },
  plan_required: { about: 'attach', title: `The plan is ${DOMAIN_PLANS.others}` },
  deploy_required: { about: 'attach', title: 'Nothing is deployed' },
  in_use: { about: 'attach', title: 'In use elsewhere' },
  no_record: { about: 'record', title: 'No record yet', absent: true },
  zone_doubled: { about: 'record', title: 'The zone’s name is in the record twice' },
  ns_mismatch: { about: 'record', title: 'Other name servers answer for it', absent: true },
  lookup_failed: { about: 'record', title: 'The DNS did not answer' },
  dnssec_bogus: { about: 'record', title: 'DNSSEC validation fails' },
  wrong_target: { about: 'record', title: 'The CNAME leads elsewhere' },
  stale_target: { about: 'record', title: 'The CNAME’s target is gone' },
  cname_with_siblings: { about: 'record', title: 'The CNAME is not alone' },
  a_conflict: { about: 'record', title: 'An address is in the way' },
  cname_at_apex: { about: 'record', title: 'A CNAME at the apex' },
  alias_mismatch: { about: 'record', title: 'Other addresses' },
  alias_unsupported: { about: 'record', title: 'The provider has no ALIAS' },
  chain_loop: { about: 'record', title: 'The CNAMEs form a loop' },
  chain_too_long: { about: 'record', title: 'Too many CNAMEs' },
  not_propagated: { about: 'record', title: 'Not visible yet', absent: true },
  caa_forbids: { about: 'certificate', title: 'CAA forbids the certificate' },
  caa_on_target: { about: 'certificate', title: 'The target’s CAA forbids the certificate' },
  caa_lookup_failed: { about: 'certificate', title: 'CAA could not be read' },
  proxied: { about: 'record', title: 'Another server is in front' },
  not_served: { about: 'record', title: 'Another server answers' },
  moved: { about: 'record', title: 'It points elsewhere now' },
  claimed_elsewhere: { about: 'record', title: 'Another project has a claim' },
  txt_missing: { about: 'record', title: 'No proof of ownership', absent: true },
  wildcard_risk: { about: 'record', title: 'A wildcard points here too' },
  issuance_pending: { about: 'certificate', title: 'The certificate is being issued' },
  timed_out: { about: 'certificate', title: 'No certificate in time' },
  suffix_not_permitted: { about: 'certificate', title: 'The root may not sign for it' },
} as const satisfies Record<string, CodeFacts>;

export type CheckCode = keyof typeof CHECK_CODES;
type CodeAbout<About> = {
  [Code in CheckCode]: (typeof CHECK_CODES)[Code]['about'] extends About ? Code : never;
}[CheckCode];

export const ALL_CODES = Object.keys(CHECK_CODES) as CheckCode[];

export const codesAbout = <About extends CodeFacts['about']>(about: About): CodeAbout<About>[] =>
  ALL_CODES.filter((code): code is CodeAbout<About> => CHECK_CODES[code].about === about);

/** Problems in which a record is only missing. */
export const ABSENCES: ReadonlySet<CheckCode> = new Set(ALL_CODES.filter((code) => 'absent' in CHECK_CODES[code]));

/** What a certificate's state is called: a pending one for which issuance has failed is refused. */
export const certificateWord = ({ state, reason }: { state: string; reason?: string | undefined }): string =>
  state === 'pending' && (reason ?? 'issuance_pending') !== 'issuance_pending' ? 'refused' : state;

/** Whether there is no certificate until somebody mends something; CAA that could not be read is asked for again. */
export const certificateFails = (certificate: { state: string; reason?: string | undefined }): boolean =>
  ['refused', 'failed', 'expired'].includes(certificateWord(certificate)) && certificate.reason !== 'caa_lookup_failed';

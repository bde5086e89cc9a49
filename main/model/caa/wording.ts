import type { CaaStep, CaaVerdict } from '../../contract/certificates.ts';
import type { LookupFailure } from '../dns-lookup.ts';
import { parentOf, ROOT } from '../dns-name.ts';
import type { CaaIssuer, GoverningTag, PropertyEvaluation, SetEvaluation } from './set.ts';
import {
  type CaaRecord,
  FLAG_CRITICAL,
  forbidsIssuance,
  formatCaa,
  isCriticalByMistake,
  isRegistered,
  parseIssueValue,
  propertyOf,
} from './value.ts';

/** Warnings about a valid record that probably does not do what its author meant. */
export function caaWarnings(record: CaaRecord): string[] {
  const { flags, tag, value } = record;
  const warnings: string[] = [];
  if ((flags & ~FLAG_CRITICAL) !== 0) {
    warnings.push(`Of the flags only ${FLAG_CRITICAL} (critical) has a meaning; ${flags} has other bits.`);
  }
  if (!isRegistered(record)) {
    const effect = forbidsIssuance(record) ? 'being critical, it forbids every issuance' : 'CAs ignore it';
    warnings.push(`The tag "${tag}" is not registered: ${effect}.`);
  } else if (forbidsIssuance(record)) {
    warnings.push(`The tag "${tag}" is critical, and the CA does not support it: it forbids every issuance.`);
  }
  const property = propertyOf(record);
  if ((property === 'issue' || property === 'issuewild') && !parseIssueValue(value).ok) {
    warnings.push(`The value "${value}" is malformed (RFC 8659 §4.2): it authorises no CA.`);
  }
  return warnings;
}

/** The verdict, with the last step's reason. */
export function verdictText(verdict: CaaVerdict['verdict'], issuer: string, subject: string, reason: string): string {
  if (verdict === 'allowed') return `${issuer} may issue for ${subject}. ${reason}`;
  if (verdict === 'forbidden') return `${issuer} must not issue for ${subject}. ${reason}`;
  return `Whether ${issuer} may issue for ${subject} is not known. ${reason}`;
}

/** The step over a name without records. `note` explains unusual reasons. */
export function emptyStep(name: string, owner: string, note: string | undefined): CaaStep {
  const above = parentOf(name);
  const alias = owner === name ? '' : `${name} is an alias of ${owner}, which has no CAA records. `;
  const where = note === undefined ? '' : `${note}. `;
  const found = alias === '' && where === '' ? `${name} has no CAA records. ` : `${alias}${where}`;
  // RFC 8659 §3 climbs from the queried name, never from the target of an alias.
  const next =
    above === ROOT
      ? 'This was the last name, so there is no restriction: every CA may issue.'
      : `So ${above} is queried next${alias === '' ? '' : ', not the parent of the alias’s target'}.`;
  return { name, records: [], decision: above === ROOT ? 'allow' : 'climb', reason: found + next };
}

const FAILURE_TEXTS: Record<LookupFailure, string> = {
  servfail: 'was answered with SERVFAIL',
  timeout: 'was not answered in time',
  refused: 'was REFUSED',
  referral: 'was answered with a referral to other servers only',
  unreachable: 'reached no DNS server',
  malformed: 'was answered with a message that cannot be read',
  bogus: 'was answered with wrong signatures (DNSSEC), which a CA must refuse',
  chain_loop: 'leads around in a loop of CNAMEs',
  chain_too_long: 'leads through too many CNAMEs',
  rcode: 'was answered with an error',
};

/** The final step if the records of a name could not be read. */
export function errorStep(name: string, failure: LookupFailure, detail?: string): CaaStep {
  const more = detail === undefined ? '' : ` (${detail})`;
  return {
    name,
    records: [],
    decision: 'error',
    reason: `The CAA question about ${name} ${FAILURE_TEXTS[failure]}${more}. A record that forbids issuance could be hidden there, so the names above cannot permit it.`,
  };
}

/** The final step if records were found. */
export function setStep(
  name: string,
  owner: string,
  records: readonly CaaRecord[],
  evaluation: SetEvaluation,
  issuer: CaaIssuer,
  wildcard: boolean,
): CaaStep {
  const alias = owner === name ? '' : `${name} is an alias of ${owner}, so the records there count. `;
  const allowed = evaluation.kind === 'unrestricted' || evaluation.kind === 'authorised';
  return {
    name,
    records: records.map((record) => formatCaa(owner, record)),
    decision: allowed ? 'allow' : 'forbid',
    reason: alias + evaluationText(owner, evaluation, issuer, wildcard),
  };
}

function evaluationText(owner: string, evaluation: SetEvaluation, issuer: CaaIssuer, wildcard: boolean): string {
  switch (evaluation.kind) {
    case 'unrestricted':
      return `${owner} has CAA records, which end the search, and none of them restricts who may issue ${wildcard ? 'a wildcard' : 'for a name that is no wildcard'}.`;
    case 'authorised':
      return `${describe(owner, evaluation.by.slice(0, 1))} One record that authorises is enough.`;
    case 'unauthorised':
      return `${describe(owner, evaluation.properties)}${wildcardText(evaluation.tag, wildcard)} No record authorises ${issuer.issuer}.`;
    case 'critical': {
      const [record] = evaluation.records;
      const line = record === undefined ? owner : formatCaa(owner, record);
      const what =
        record !== undefined && isRegistered(record)
          ? `this CA does not support "${record.tag}"`
          : `"${record?.tag ?? ''}" is not a registered property`;
      if (record !== undefined && isCriticalByMistake(record)) {
        return `The record ${line} has the flags ${record.flags}, which Let’s Encrypt treats as critical, and ${what}, so it does not issue, regardless of the other records.`;
      }
      return `The record ${line} is marked critical (128), and ${what}, so no CA may issue, regardless of the other records.`;
    }
  }
}

function wildcardText(tag: GoverningTag, wildcard: boolean): string {
  if (!wildcard) return '';
  return tag === 'issuewild'
    ? ' For a wildcard, issuewild replaces every issue record.'
    : ' Without issuewild, issue governs wildcards too.';
}

/** Limit on properties explained in a sentence each; the step lists all records. */
const PROPERTIES_EXPLAINED_MAX = 5;

function describe(owner: string, properties: readonly PropertyEvaluation[]): string {
  const sentences = properties
    .slice(0, PROPERTIES_EXPLAINED_MAX)
    .map(({ record, reason }) => `The record ${formatCaa(owner, record)} ${reason}.`);
  const left = properties.length - sentences.length;
  if (left > 0) sentences.push(`${left} more records do not authorise it either.`);
  return sentences.join(' ');
}

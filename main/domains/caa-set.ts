import { judgeProperty, type CaaIssuer, type PropertyJudgement } from './caa-property.ts';
import { isCritical, isCriticalByMistake, isKnown, propertyOf, type CaaRecord } from './caa-record.ts';

/** What a CAA record set says about one request. */
export type SetJudgement = { warnings: readonly string[] } & (
  | { kind: 'unrestricted' }
  | { kind: 'authorised'; tag: GoverningTag; by: readonly PropertyJudgement[]; others: readonly PropertyJudgement[] }
  | { kind: 'unauthorised'; tag: GoverningTag; properties: readonly PropertyJudgement[] }
  /** Unknown properties are marked critical. `alone`: there is nothing else; `rest`: what is said without them. */
  | { kind: 'critical'; records: readonly CaaRecord[]; alone: boolean; rest: SetJudgement }
);

export type GoverningTag = 'issue' | 'issuewild';

/** The judgement of a set that is not empty (RFC 8659 §4). */
export function judgeSet(records: readonly CaaRecord[], issuer: CaaIssuer, wildcard: boolean): SetJudgement {
  const critical = records.filter((record) => !isKnown(record) && isCritical(record));
  if (critical.length === 0) return judgeGoverning(records, issuer, wildcard);
  const others = records.filter((record) => !critical.includes(record));
  return {
    kind: 'critical',
    records: critical,
    alone: others.length === 0,
    rest: judgeGoverning(others, issuer, wildcard),
    warnings: [],
  };
}

function judgeGoverning(records: readonly CaaRecord[], issuer: CaaIssuer, wildcard: boolean): SetJudgement {
  const mistaken = mistakenWarnings(records);
  const tag = governingTag(records, wildcard);
  const properties = records
    .filter((record) => propertyOf(record) === tag)
    .map((record) => judgeProperty(record, issuer));
  if (properties.length === 0) return { kind: 'unrestricted', warnings: mistaken };
  const warnings = [...mistaken, ...properties.flatMap((property) => property.warnings)];
  const by = properties.filter(({ authorises }) => authorises);
  if (by.length === 0) return { kind: 'unauthorised', tag, properties, warnings };
  // One record that authorises as it is outweighs what is odd about another (RFC 8659 §4.2: records add up).
  const plain = by.some((property) => property.warnings.length === 0);
  const others = properties.filter(({ authorises }) => !authorises);
  return { kind: 'authorised', tag, by, others, warnings: plain ? mistaken : warnings };
}

/** RFC 8659 §4.3: any `issuewild` replaces every `issue` for a wildcard, and means nothing for other names. */
export const governingTag = (records: readonly CaaRecord[], wildcard: boolean): GoverningTag =>
  wildcard && records.some((record) => propertyOf(record) === 'issuewild') ? 'issuewild' : 'issue';

function mistakenWarnings(records: readonly CaaRecord[]): string[] {
  return records
    .filter((record) => !isKnown(record) && isCriticalByMistake(record))
    .map(
      ({ flags, tag }) =>
        `The unknown property "${tag}" has the flags ${flags}. The critical flag is 128, so it is ignored here; Let’s Encrypt takes 1 for critical as well, and would not issue.`,
    );
}

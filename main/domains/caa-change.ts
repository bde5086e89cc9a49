import type { CaaIssuer, PropertyJudgement } from './caa-property.ts';
import { formatCaa } from './caa-record.ts';
import type { GoverningTag, SetJudgement } from './caa-set.ts';

/** One name of the walk. */
export interface Place {
  /** The name that was asked. */
  readonly name: string;
  /** The name that its records belong to: where its CNAMEs end. */
  readonly owner: string;
  /** Whether the name is a CNAME, which nothing else can stand beside (RFC 1034 §3.6.2). */
  readonly aliased: boolean;
}

/** How a walk ended. */
export type Ending = { wildcard: boolean } & (
  { kind: 'none' } | { kind: 'lookup_failed' } | { kind: 'judged'; judgement: SetJudgement }
);

/** The smallest change to the records that would turn a verdict around, as an instruction. */
export function changeFor(ending: Ending, places: readonly Place[], issuer: CaaIssuer): string {
  const last = places.at(-1);
  if (last === undefined) return '';
  // Of the two, issuewild touches no other certificate.
  const tag = ending.wildcard ? 'issuewild' : 'issue';
  switch (ending.kind) {
    case 'none':
      return `To forbid it, add this record: ${line(roomFor(places), tag, ';')}`;
    case 'lookup_failed':
      return mendLookup(last, places.slice(0, -1), tag, issuer.issuer);
    case 'judged':
      return isAllowed(ending.judgement)
        ? forbid(last.owner, ending.judgement, tag)
        : `To permit it, ${allow(last, places, ending.judgement, tag, issuer.issuer)}`;
  }
}

const isAllowed = (judgement: SetJudgement): boolean =>
  judgement.kind === 'unrestricted' || judgement.kind === 'authorised';

const line = (owner: string, tag: GoverningTag, value: string): string => formatCaa(owner, { flags: 0, tag, value });

/** The closest name that can take a CAA record and is no top-level domain, which is its registry's. */
const roomFor = (places: readonly Place[]): string =>
  (places.find(({ name, aliased }) => !aliased && name.includes('.')) ?? places[0])?.owner ?? '';

function forbid(owner: string, judgement: SetJudgement, tag: GoverningTag): string {
  if (judgement.kind !== 'authorised' || (tag === 'issuewild' && judgement.tag === 'issue')) {
    return `To forbid it, add this record: ${line(owner, tag, ';')}`;
  }
  const records = judgement.by.map(({ record }) => formatCaa(owner, record)).join(' and ');
  if (judgement.others.length > 0) return `To forbid it, remove ${records}`;
  // Removing the only records would leave no restriction at all.
  return `To forbid it, set the value to ";" in ${records}`;
}

function allow(
  last: Place,
  places: readonly Place[],
  judgement: SetJudgement,
  tag: GoverningTag,
  issuer: string,
): string {
  if (judgement.kind === 'critical') {
    const records = judgement.records.map((record) => formatCaa(last.owner, record)).join(' and ');
    // Without its last record the set would be gone, and the names above would decide.
    const first = judgement.alone ? `set the flags to 0 in ${records}` : `remove ${records}, or set its flags to 0`;
    return isAllowed(judgement.rest) ? first : `${first}; and ${allow(last, places, judgement.rest, tag, issuer)}`;
  }
  const close = judgement.kind === 'unauthorised' ? fewestEdits(judgement.properties) : undefined;
  if (close !== undefined) return `in ${formatCaa(last.owner, close.record)} ${close.edits.join('; and ')}`;
  const owner = last.owner.includes('.') ? last.owner : roomFor(places);
  const text = `add this record: ${line(owner, tag, issuer)}`;
  return owner === last.owner && last.aliased
    ? `${text} – or, where ${owner} is not yours, do without the CNAME from ${last.name} to it`
    : text;
}

const fewestEdits = (properties: readonly PropertyJudgement[]): PropertyJudgement | undefined =>
  properties.filter(({ edits }) => edits.length > 0).sort((a, b) => a.edits.length - b.edits.length)[0];

function mendLookup(last: Place, below: readonly Place[], tag: GoverningTag, issuer: string): string {
  const mend = `Make the name servers of ${last.name} answer the question for CAA; an answer without records is enough`;
  const closer = below.find(({ aliased }) => !aliased);
  return closer === undefined
    ? mend
    : `${mend}. Or end the search before it, with this record: ${line(closer.name, tag, issuer)}`;
}

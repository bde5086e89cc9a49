import type { CaaStep, CaaVerdict } from '../../contract/certificates.ts';
import { type LookupFailure, RESOLVER_FIXES } from '../dns-lookup.ts';
import { dnsName, parentOf, ROOT } from '../dns-name.ts';
import { type CaaIssuer, evaluateSet, type SetEvaluation, type GoverningTag, type PropertyEvaluation } from './set.ts';
import { type CaaRecord, formatCaa, formatCaaData } from './value.ts';
import { emptyStep, errorStep, setStep, verdictText } from './wording.ts';

interface WalkedName {
  readonly name: string;
  /** The owner of the records: the end of the name's CNAME chain. */
  readonly owner: string;
  /** Whether the name is a CNAME, which excludes other records (RFC 1034 §3.6.2). */
  readonly aliased: boolean;
}

type Ending = { wildcard: boolean } & (
  | { kind: 'none' }
  | { kind: 'lookup_failed'; reason: LookupFailure }
  | { kind: 'evaluated'; evaluation: SetEvaluation }
);

interface CaaEdit {
  readonly action: 'add' | 'remove';
  readonly name: string;
  readonly record: CaaRecord;
}

interface CaaChange {
  /** An instruction, as a sentence. */
  readonly text: string;
  /** The same as record edits, in order; empty if name servers must be fixed first. */
  readonly edits: readonly CaaEdit[];
}

/** The smallest change to the records that would reverse a verdict. */
function changeFor(ending: Ending, names: readonly WalkedName[], issuer: CaaIssuer): CaaChange {
  const last = names.at(-1);
  if (last === undefined) return NO_CHANGE;
  // issuewild affects no other certificates.
  const tag = ending.wildcard ? 'issuewild' : 'issue';
  switch (ending.kind) {
    case 'none':
      return said('To forbid it, ', addition(roomFor(names), tag, ';'));
    case 'lookup_failed':
      return { text: fixLookup(ending.reason, last, names.slice(0, -1), tag, issuer.issuer), edits: [] };
    case 'evaluated':
      return isAllowed(ending.evaluation)
        ? said('To forbid it, ', forbid(last.owner, ending.evaluation, tag))
        : said('To permit it, ', allow(last, names, ending.evaluation, tag, issuer.issuer));
  }
}

const NO_CHANGE: CaaChange = { text: '', edits: [] };

const said = (before: string, { text, edits }: CaaChange): CaaChange => ({ text: `${before}${text}`, edits });

const isAllowed = (evaluation: SetEvaluation): boolean =>
  evaluation.kind === 'unrestricted' || evaluation.kind === 'authorised';

function addition(name: string, tag: GoverningTag, value: string): CaaChange {
  const record: CaaRecord = { flags: 0, tag, value };
  return { text: `add this record: ${formatCaa(name, record)}`, edits: [{ action: 'add', name, record }] };
}

const removal = (name: string, records: readonly CaaRecord[]): CaaEdit[] =>
  records.map((record) => ({ action: 'remove', name, record }));

const replacement = (name: string, record: CaaRecord, changes: Partial<CaaRecord>): CaaEdit[] => [
  { action: 'remove', name, record },
  { action: 'add', name, record: { ...record, ...changes } },
];

const linesOf = (owner: string, records: readonly CaaRecord[]): string =>
  records.map((record) => formatCaa(owner, record)).join(' and ');

/** The closest name that can hold a CAA record and is not a top-level domain. */
const roomFor = (names: readonly WalkedName[]): string =>
  (names.find(({ name, aliased }) => !aliased && name.includes('.')) ?? names[0])?.owner ?? '';

function forbid(owner: string, evaluation: SetEvaluation, tag: GoverningTag): CaaChange {
  if (evaluation.kind !== 'authorised' || (tag === 'issuewild' && evaluation.tag === 'issue')) {
    return addition(owner, tag, ';');
  }
  const records = evaluation.by.map(({ record }) => record);
  if (evaluation.others.length > 0) {
    return { text: `remove ${linesOf(owner, records)}`, edits: removal(owner, records) };
  }
  // Removing the only records would lift every restriction.
  return {
    text: `set the value to ";" in ${linesOf(owner, records)}`,
    edits: records.flatMap((record) => replacement(owner, record, { value: ';' })),
  };
}

function allow(
  last: WalkedName,
  names: readonly WalkedName[],
  evaluation: SetEvaluation,
  tag: GoverningTag,
  issuer: string,
): CaaChange {
  if (evaluation.kind === 'critical') {
    const first = uncritical(last.owner, evaluation.records, evaluation.alone);
    if (isAllowed(evaluation.rest)) return first;
    const then = allow(last, names, evaluation.rest, tag, issuer);
    return { text: `${first.text}; and ${then.text}`, edits: [...first.edits, ...then.edits] };
  }
  const close = evaluation.kind === 'unauthorised' ? fewestEdits(evaluation.properties) : undefined;
  if (close !== undefined) {
    const { record, edits, corrected } = close;
    return {
      text: `in ${formatCaa(last.owner, record)} ${edits.join('; and ')}`,
      edits: replacement(last.owner, record, { value: corrected }),
    };
  }
  const owner = last.owner.includes('.') ? last.owner : roomFor(names);
  const { text, edits } = addition(owner, tag, issuer);
  return owner === last.owner && last.aliased
    ? { text: `${text} – or, where ${owner} is not yours, remove the CNAME from ${last.name} to it`, edits }
    : { text, edits };
}

function uncritical(owner: string, records: readonly CaaRecord[], alone: boolean): CaaChange {
  const lines = linesOf(owner, records);
  // Without its last record the set would disappear, and the names above would decide.
  return alone
    ? {
        text: `set the flags to 0 in ${lines}`,
        edits: records.flatMap((record) => replacement(owner, record, { flags: 0 })),
      }
    : { text: `remove ${lines}, or set its flags to 0`, edits: removal(owner, records) };
}

const fewestEdits = (properties: readonly PropertyEvaluation[]): PropertyEvaluation | undefined =>
  properties.filter(({ edits }) => edits.length > 0).sort((a, b) => a.edits.length - b.edits.length)[0];

function fixLookup(
  reason: LookupFailure,
  last: WalkedName,
  below: readonly WalkedName[],
  tag: GoverningTag,
  issuer: string,
): string {
  const ofResolver = RESOLVER_FIXES[reason];
  // A resolver also times out when the zone's own name servers do not answer.
  if (ofResolver !== undefined && reason !== 'timeout') return ofResolver;
  const servers = `the name servers of ${last.name} answer the question for CAA; an answer without records is enough`;
  const fix = ofResolver === undefined ? `Make ${servers}` : `${ofResolver}. If it is, make ${servers}`;
  const closer = below.find(({ aliased }) => !aliased);
  return closer === undefined
    ? fix
    : `${fix}. Or end the search before it, with this record: ${formatCaa(closer.name, { flags: 0, tag, value: issuer })}`;
}

export interface CaaRequest extends CaaIssuer {
  /** In any case, with or without the trailing dot; a leading `*.` means a wildcard. */
  readonly hostname: string;
  readonly wildcard?: boolean;
}

/** The answer to the CAA query for one name. */
export type CaaLookup =
  /** `aliasChain`: the targets of the followed CNAMEs, in order; the records belong to the last one. */
  | { kind: 'records'; records: readonly CaaRecord[]; aliasChain: readonly string[] }
  /** NXDOMAIN, nodata, and names outside Vivarium's own DNS, which `note` then states. */
  | { kind: 'empty'; aliasChain: readonly string[]; note?: string }
  /** The lookup failed. */
  | { kind: 'error'; reason: LookupFailure; aliasChain?: readonly string[]; detail?: string };

/** A step of the walk, with data that only later decisions need. */
interface Visit extends WalkedName {
  step: CaaStep;
}

/**
 * Determines whether a CA may issue for a hostname by its CAA records, with every name queried, why the walk continued
 * or ended there, and the smallest change that would reverse the verdict (RFC 8659, RFC 8657).
 *
 * Where Let’s Encrypt is stricter than the RFCs, its verdict follows it; the verdict of another CA follows the
 * RFCs, with a warning. An error before a record set is found is `lookup_failed`, never a refusal, because the missing
 * records are unknown. Errors thrown by `lookup` propagate.
 */
export async function explainCaa(
  request: CaaRequest & { lookup: (name: string) => Promise<CaaLookup> },
): Promise<CaaVerdict> {
  const walk = walkCaa(request);
  let step = walk.next();
  while (step.done !== true) step = walk.next(await request.lookup(step.value));
  return step.value;
}

/**
 * The CAA tree walk as a generator without side effects: yields the name whose CAA records it needs, receives the
 * lookup's result, and returns the verdict (RFC 8659 §3). It asks at most once per label.
 */
export function* walkCaa(request: CaaRequest): Generator<string, CaaVerdict, CaaLookup> {
  const wildcard = request.wildcard === true || request.hostname.startsWith('*.');
  const hostname = dnsName(request.hostname.replace(/^\*\./, ''));
  const subject = `${wildcard ? '*.' : ''}${hostname}`;
  const visits: Visit[] = [];
  const close = closer(request, subject, visits);
  for (let name = hostname; name !== ROOT; name = parentOf(name)) {
    const lookup = yield name;
    const aliasChain = lookup.aliasChain ?? [];
    const owner = aliasChain.at(-1) ?? name;
    const visit = { name, owner, aliased: aliasChain.length > 0 };
    if (lookup.kind === 'error') {
      visits.push({ ...visit, step: errorStep(name, lookup.reason, lookup.detail) });
      return close({ kind: 'lookup_failed', reason: lookup.reason, wildcard });
    }
    if (lookup.kind === 'records' && lookup.records.length > 0) {
      const evaluation = evaluateSet(lookup.records, request, wildcard);
      visits.push({ ...visit, step: setStep(name, owner, lookup.records, evaluation, request, wildcard) });
      return close({ kind: 'evaluated', evaluation, wildcard });
    }
    const note = lookup.kind === 'empty' ? lookup.note : undefined;
    visits.push({ ...visit, step: emptyStep(name, owner, note) });
  }
  return close({ kind: 'none', wildcard });
}

function closer(request: CaaIssuer, subject: string, visits: readonly Visit[]) {
  return (ending: Ending): CaaVerdict => {
    const last = visits.at(-1);
    const verdict = verdictOf(ending);
    const { text: change, edits } = changeFor(ending, visits, request);
    return {
      verdict,
      ...(ending.kind === 'evaluated' && last !== undefined ? { foundAt: last.owner } : {}),
      message: verdictText(verdict, request.issuer, subject, last?.step.reason ?? ''),
      change,
      edits: edits.map(({ action, name, record }) => ({ action, name, value: formatCaaData(record) })),
      decisive: ending.kind === 'evaluated' && last !== undefined ? decisiveRecords(last.owner, ending.evaluation) : [],
      trace: visits.map(({ step }) => step),
      warnings: ending.kind === 'evaluated' ? [...ending.evaluation.warnings] : [],
    };
  };
}

function verdictOf(ending: Ending): CaaVerdict['verdict'] {
  if (ending.kind === 'lookup_failed') return 'lookup_failed';
  if (ending.kind === 'none') return 'allowed';
  return ending.evaluation.kind === 'unrestricted' || ending.evaluation.kind === 'authorised' ? 'allowed' : 'forbidden';
}

function decisiveRecords(owner: string, evaluation: SetEvaluation): string[] {
  switch (evaluation.kind) {
    case 'unrestricted':
      return [];
    case 'authorised':
      return evaluation.by.map(({ record }) => formatCaa(owner, record));
    case 'unauthorised':
      return evaluation.properties.map(({ record }) => formatCaa(owner, record));
    case 'critical':
      return evaluation.records.map((record) => formatCaa(owner, record));
  }
}

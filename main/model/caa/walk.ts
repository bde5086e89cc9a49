import type { CaaStep, CaaVerdict } from '../../contract/caa.ts';
import type { LookupFailure } from '../dns-lookup.ts';
import { dnsName, parentOf, ROOT } from '../dns-name.ts';
import { changeFor, type Ending, type WalkedName } from './change.ts';
import { type CaaIssuer, evaluateSet, type SetEvaluation } from './set.ts';
import { type CaaRecord, formatCaa, formatCaaData } from './value.ts';
import { emptyStep, errorStep, setStep, verdictText } from './wording.ts';

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

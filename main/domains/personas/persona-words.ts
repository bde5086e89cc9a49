import type { Check, Domain } from '../../contract/domains.ts';
import type { AttachedDomain } from '../domain-set.ts';
import { type Persona, type Situation, wordsFor } from './personas.ts';

type Shown = Pick<AttachedDomain, 'state' | 'checks' | 'verifiedAtMs' | 'lastCheckedAtMs' | 'nextCheckAtMs'> & {
  certificate: Pick<AttachedDomain['certificate'], 'state' | 'refusal'>;
};

/** Whether the automatic checks ended without success. */
export const isGivenUp = ({ state, nextCheckAtMs }: Pick<Shown, 'state' | 'nextCheckAtMs'>): boolean =>
  state !== 'suspended' && state !== 'verified' && nextCheckAtMs === null;

function situationOf(domain: Shown): Situation {
  const { state, checks, verifiedAtMs, lastCheckedAtMs } = domain;
  if (state === 'verified') return 'verified';
  if (lastCheckedAtMs === null) return 'unchecked';
  if (verifiedAtMs !== null || isGivenUp(domain)) return 'moved';
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  return failed.length > 0 && failed.every(({ code }) => code === 'txt_missing') ? 'unproven' : 'wrong';
}

/** The persona's words for the states of a domain; undefined for the platform's own persona, which has none. */
export function personaOf({ id, name, words }: Persona, domain: Shown): Domain['persona'] {
  if (id === 'animal-store') return undefined;
  // A suspension comes from the platform's plans.
  const state = domain.state === 'suspended' ? undefined : words.hostname[situationOf(domain)];
  const { state: issuance, refusal } = domain.certificate;
  const certificate = words.certificate[issuance === 'pending' && refusal !== null ? 'refused' : issuance];
  return {
    id,
    name,
    ...(state !== undefined && { state }),
    ...(certificate !== undefined && { certificate }),
    givenUp: isGivenUp(domain),
  };
}

/** A check with the persona's words, unless it passed. */
export function worded(check: Check, { words }: Persona, hostname: string): Check {
  const text = check.outcome === 'ok' ? undefined : words.problems[check.code];
  return text === undefined ? check : { ...check, words: wordsFor(text, hostname) };
}

import type { CaaVerdict } from '../contract/caa.ts';
import type { Outcome } from './outcome.ts';
import { AcmeError } from './problem.ts';

/** What one remote perspective found; `by` names it: `perspective 2 (192.0.2.53:53)`. */
export interface Seen<Result> {
  readonly by: string;
  readonly result: Result;
}

/** Of one perspective, in the explanation of an order. */
const ATTEMPTS_SHOWN = 5;

/** How many remote perspectives may disagree with the primary one (Baseline Requirements 3.2.2.9, as Boulder has it). */
export function disagreementsAllowed(remotes: number): number {
  if (remotes < 2) return 0;
  return remotes < 6 ? 1 : 2;
}

/**
 * A validation that succeeded at the primary perspective, unless too many remote ones fail: then it fails as the first of
 * these. Its attempts say which perspective found what.
 */
export function corroborate(primary: Outcome, remotes: readonly Seen<Outcome>[]): Outcome {
  if (primary.error !== null || remotes.length === 0) return primary;
  const [first, ...others] = remotes.filter(({ result }) => result.error !== null);
  const failed = first === undefined ? 0 : 1 + others.length;
  const attempts = [
    ...primary.attempts,
    ...remotes.flatMap(attemptsOf),
    { what: 'perspectives that agree', found: countText(remotes.length, failed) },
  ];
  if (first !== undefined && failed > disagreementsAllowed(remotes.length)) {
    const { type = 'serverInternal', detail = '' } = first.result.error ?? {};
    return { attempts, error: new AcmeError(type, `${DURING} ${first.by}: ${detail}`) };
  }
  // How long a record may be used again is no longer than any of them has seen.
  const reuses = [primary, ...remotes.map(({ result }) => result)].flatMap(({ reuseMs }) => reuseMs ?? []);
  return { attempts, error: null, ...(reuses.length > 0 && { reuseMs: Math.min(...reuses) }) };
}

/** A permission of CAA that the primary perspective found, unless too many remote ones found another verdict. */
export function corroborateCaa(primary: CaaVerdict, remotes: readonly Seen<CaaVerdict>[]): CaaVerdict {
  if (primary.verdict !== 'allowed') return primary;
  const [first, ...others] = remotes.filter(({ result }) => result.verdict !== 'allowed');
  if (first === undefined) return primary;
  const failed = 1 + others.length;
  const { by, result } = first;
  if (failed > disagreementsAllowed(remotes.length)) {
    return { ...result, message: `${DURING} ${by}: ${result.message}` };
  }
  const disagree = `Of the remote perspectives, ${countText(remotes.length, failed)}; ${by}: ${result.message}`;
  return { ...primary, message: `${primary.message} ${disagree}` };
}

/** How Let’s Encrypt begins. */
const DURING = 'During secondary validation,';

const countText = (remotes: number, failed: number): string =>
  `${remotes - failed} of ${remotes} agree, and ${disagreementsAllowed(remotes)} may disagree`;

function attemptsOf({ by, result: { attempts, error } }: Seen<Outcome>): Outcome['attempts'] {
  const shown = attempts.slice(0, ATTEMPTS_SHOWN).map((each) => ({ ...each, what: `${by}: ${each.what}` }));
  return shown.length > 0 ? shown : [{ what: by, found: error?.detail ?? 'nothing was asked' }];
}

import type { CaaVerdict } from '../contract/certificates.ts';
import type { Outcome } from './outcome.ts';
import { AcmeError } from './problem.ts';

/** The result of one remote perspective; `by` names it: `perspective 2 (192.0.2.53:53)`. */
export interface Seen<Result> {
  readonly by: string;
  readonly result: Result;
}

/** Attempts of one perspective that the explanation of an order shows. */
const ATTEMPTS_SHOWN = 5;

/** How many remote perspectives may disagree with the primary one (Baseline Requirements 3.2.2.9, as in Boulder). */
export function disagreementsAllowed(remotes: number): number {
  if (remotes < 2) return 0;
  return remotes < 6 ? 1 : 2;
}

/**
 * The result of a validation that succeeded at the primary perspective. If too many remote ones fail, it fails like
 * the first of them. The attempts show what each perspective found.
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
  // The shortest reuse time of all perspectives applies.
  const reuses = [primary, ...remotes.map(({ result }) => result)].flatMap(({ reuseMs }) => reuseMs ?? []);
  return { attempts, error: null, ...(reuses.length > 0 && { reuseMs: Math.min(...reuses) }) };
}

/** The CAA verdict of the primary perspective; a permission is withdrawn if too many remote ones disagree. */
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

/** Let’s Encrypt's wording. */
const DURING = 'During secondary validation,';

const countText = (remotes: number, failed: number): string =>
  `${remotes - failed} of ${remotes} agree, and ${disagreementsAllowed(remotes)} may disagree`;

function attemptsOf({ by, result: { attempts, error } }: Seen<Outcome>): Outcome['attempts'] {
  const shown = attempts.slice(0, ATTEMPTS_SHOWN).map((each) => ({ ...each, what: `${by}: ${each.what}` }));
  return shown.length > 0 ? shown : [{ what: by, found: error?.detail ?? 'no request was sent' }];
}

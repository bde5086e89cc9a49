import type { CaaVerdict } from '../contract/caa.ts';
import { walkCaa, type CaaLookup, type CaaRequest } from './caa-walk.ts';

/**
 * Whether a CA may issue for a hostname by the CAA records of the DNS, with every name that was asked, why the walk went
 * on or ended there, and the smallest change that would turn the verdict around (RFC 8659, RFC 8657).
 *
 * Where Let’s Encrypt is stricter than the RFCs, the verdict is theirs, and a warning says so. An error met before a
 * record set is `lookup_failed`, never a refusal: what it hides is not known. Errors of `lookup` itself pass through.
 */
export async function explainCaa(
  request: CaaRequest & { lookup: (name: string) => Promise<CaaLookup> },
): Promise<CaaVerdict> {
  const walk = walkCaa(request);
  let step = walk.next();
  while (step.done !== true) step = walk.next(await request.lookup(step.value));
  return step.value;
}

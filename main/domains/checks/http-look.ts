import { isWildcard } from '../../contract/wildcards.ts';
import type { VerificationCheck } from './checks.ts';
import { allAddresses, type Observation } from './observe.ts';

/** The result of an HTTP request to an address: the platform, another server's status, or no answer. */
export type Look = { served: true } | { served: false; status: number | null };

/** Sends a request for a hostname to an address. Never rejects. */
export type LookOverHttp = (hostname: string, address: string) => Promise<Look>;

/** Failures that a server in front of the platform would explain. */
const LEADS_ELSEWHERE: ReadonlySet<string> = new Set(['wrong_target', 'a_conflict', 'alias_mismatch']);

/** Maximum addresses to try; a CDN answers with a few. */
const ADDRESSES_MAX = 4;

const LOOPBACK = /^(?:127\.|::1$)/;

/**
 * The addresses to try: those of a hostname whose records lead elsewhere, if it fails for that reason alone. Only
 * loopback addresses, so no request leaves the machine.
 */
export function addressesToLookAt(
  { hostname, addresses, alias, target }: Observation,
  checks: readonly VerificationCheck[],
): string[] {
  // A request needs a concrete hostname.
  if (isWildcard(hostname)) return [];
  const failed = checks.filter(
    ({ outcome, code }) => (outcome === 'failed' && code !== 'moved') || outcome === 'unknown',
  );
  if (failed.length === 0 || failed.some(({ code }) => !LEADS_ELSEWHERE.has(code)) || alias.rivals !== null) return [];
  const own = allAddresses(target);
  const found = allAddresses(addresses);
  const others = found.filter((address) => !own.includes(address));
  // Beside an address of the platform, any other is a stray, regardless of its answer.
  if (others.length < found.length || others.length > ADDRESSES_MAX) return [];
  return others.every((address) => LOOPBACK.test(address)) ? others : [];
}

/** Adds the results: `proxied` replaces the failed checks if every address forwards requests; else adds `not_served`. */
export function afterLooks(
  hostname: string,
  checks: readonly VerificationCheck[],
  looks: readonly { address: string; look: Look }[],
): VerificationCheck[] {
  const [failed] = checks.filter(({ outcome }) => outcome === 'failed');
  if (looks.length === 0 || failed === undefined) return [...checks];
  const found = looks.map(({ address, look }) => `${address}: ${lookText(look)}`).join('; ');
  const check = { expected: 'the platform’s answer over HTTP', found } as const;
  if (looks.every(({ look }) => look.served)) {
    return [
      ...checks.filter(({ outcome, code }) => outcome !== 'failed' && code !== 'moved'),
      {
        ...check,
        code: 'proxied',
        outcome: 'warning',
        message: `The records of ${hostname} lead to another server, which passes requests on to the platform, so they are accepted. Clients see the certificate of that server, and requests without an API key count for its address.`,
        fix: `No fix is needed if that server is yours. Otherwise: ${failed.fix ?? ''}`,
      },
    ];
  }
  return [
    ...checks,
    {
      ...check,
      code: 'not_served',
      outcome: 'failed',
      message: `A request for ${hostname} at the addresses that its records lead to does not reach the platform.`,
      fix: failed.fix,
    },
  ];
}

function lookText(look: Look): string {
  if (look.served) return 'the platform';
  return look.status === null ? 'no answer' : `another server, status ${look.status}`;
}

import { isWildcard } from '../contract/wildcards.ts';
import type { VerificationCheck } from './checks.ts';
import { allAddresses, type Observation } from './observe.ts';

/** What a request over HTTP found at an address: the platform, another server's status, or no answer. */
export type Look = { served: true } | { served: false; status: number | null };

/** Sends a request for a hostname to an address. Never rejects. */
export type LookOverHttp = (hostname: string, address: string) => Promise<Look>;

/** Failures that a server in front of the platform explains. */
const LEADS_ELSEWHERE: ReadonlySet<string> = new Set(['wrong_target', 'a_conflict', 'alias_mismatch']);

/** Looks at this many addresses; a CDN answers with a few. */
const ADDRESSES_MAX = 4;

const LOOPBACK = /^(?:127\.|::1$)/;

/**
 * The addresses worth a look: those of a hostname whose records lead elsewhere, and fail for that reason alone. Only
 * addresses of this machine, so that no request leaves it.
 */
export function addressesToLookAt(
  { hostname, addresses, alias, target }: Observation,
  checks: readonly VerificationCheck[],
): string[] {
  // A request needs a hostname of its own.
  if (isWildcard(hostname)) return [];
  const failed = checks.filter(
    ({ outcome, code }) => (outcome === 'failed' && code !== 'moved') || outcome === 'unknown',
  );
  if (failed.length === 0 || failed.some(({ code }) => !LEADS_ELSEWHERE.has(code)) || alias.rivals !== null) return [];
  const own = allAddresses(target);
  const found = allAddresses(addresses);
  const others = found.filter((address) => !own.includes(address));
  // Beside an address of the platform, another one is a stray, whatever answers there.
  if (others.length < found.length || others.length > ADDRESSES_MAX) return [];
  return others.every((address) => LOOPBACK.test(address)) ? others : [];
}

/** The checks after the looks: `proxied` in place of what failed if every address passes on, else also `not_served`. */
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
        fix: `None is needed if that server is yours. Otherwise: ${failed.fix ?? ''}`,
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

/** Whether a hostname is a wildcard: `*.shop.test`. */
export const isWildcard = (hostname: string): boolean => hostname.startsWith('*.');

/** The wildcard that covers a hostname: `*` stands for exactly one label, the first (RFC 9525 §6.3). */
export const wildcardOver = (hostname: string): string => `*${hostname.slice(Math.max(hostname.indexOf('.'), 0))}`;

/** Labels that stand for a wildcard in addresses, in order of preference. */
const EXAMPLES = ['www', 'app', 'shop'] as const;

/**
 * A hostname to show in addresses and commands: for a wildcard, the first that it covers and that is not attached
 * itself, because that one has a target and a certificate of its own.
 */
export function exampleOf(hostname: string, isAttached: (hostname: string) => boolean): string {
  if (!isWildcard(hostname)) return hostname;
  const under = (label: string): string => label + hostname.slice(1);
  const free = EXAMPLES.map(under).find((name) => !isAttached(name));
  if (free !== undefined) return free;
  for (let number = 2; ; number++) if (!isAttached(under(`app${number}`))) return under(`app${number}`);
}

/** Whether a hostname is a wildcard: `*.shop.test`. */
export const isWildcard = (hostname: string): boolean => hostname.startsWith('*.');

/** The wildcard that covers a hostname: `*` stands for exactly one label, the first (RFC 9525 §6.3). */
export const wildcardOver = (hostname: string): string => `*${hostname.slice(Math.max(hostname.indexOf('.'), 0))}`;

/** A hostname to show in addresses and commands: for a wildcard, one that it covers. */
export const exampleOf = (hostname: string): string => (isWildcard(hostname) ? `www${hostname.slice(1)}` : hostname);

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

/** The most characters of a slug: with `-staging` it is a DNS label. */
export const SLUG_LENGTH_MAX = 55;

/** The letters and digits of a name without accents, in lower case, joined by hyphens; empty if there are none. */
export function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH_MAX)
    .replace(/^-+|-+$/g, '');
}

/** `5173`, and `localhost:5173`, `192.0.2.1:5173` or `localhost:5173/base`. */
const PORT = /^[0-9]{1,5}$/;
const HOST_AND_PORT = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\]):[0-9]{1,5}(?:\/.*)?$/i;

/** The URL of an upstream as typed: `5173` and `localhost:5173` are over HTTP; any other text is unchanged. */
export function completeUrl(text: string): string {
  const address = PORT.test(text) ? `localhost:${text}` : text;
  return HOST_AND_PORT.test(address) ? `http://${address}` : address;
}

/**
 * The suffixes that a new root permits: reserved names without an owner in the public DNS, which make a stolen root key
 * useless against public websites. `main/ca/README.md` explains the choice.
 */
export const DEFAULT_SUFFIXES = ['localhost', 'test', 'example', 'internal'] as const;

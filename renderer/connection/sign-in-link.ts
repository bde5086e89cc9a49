/** The alphabet of the engine's tokens; other characters are invalid in a WebSocket subprotocol. */
const TOKEN = /^[A-Za-z0-9._~-]{1,200}$/;

/** The token in a fragment `#token=…`, or null. */
export function tokenOfFragment(fragment: string): string | null {
  const token = new URLSearchParams(fragment.replace(/^#/, '')).get('token');
  return token !== null && TOKEN.test(token) ? token : null;
}

export type SignInLink =
  | { kind: 'token'; token: string }
  /** A link to a Vivarium on another port, to navigate to. */
  | { kind: 'elsewhere'; href: string }
  | { kind: 'fault'; message: string };

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Parses a pasted sign-in link or bare token. `origin` is this page's own. */
export function readSignInLink(text: string, origin: string): SignInLink {
  const trimmed = text.trim();
  if (trimmed === '') return fault('Paste the link that Vivarium printed when it started.');
  if (!trimmed.includes('/')) {
    const bare = trimmed.replace(/^#?token=/, '');
    return TOKEN.test(bare) ? { kind: 'token', token: bare } : fault('This is neither a link nor a token.');
  }
  const url = URL.parse(trimmed);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return fault('This is not a sign-in link. One begins with http:// and ends with #token= and letters.');
  }
  const token = tokenOfFragment(url.hash);
  if (token === null) return fault('The part after #token= is missing. Copy the link to its end.');
  if (isSamePlace(url, new URL(origin))) return { kind: 'token', token };
  if (LOOPBACK_HOSTS.has(url.hostname)) return { kind: 'elsewhere', href: url.href };
  return fault(`The link points to ${url.hostname}, not to a Vivarium on this machine.`);
}

function isSamePlace(link: URL, page: URL): boolean {
  if (link.origin === page.origin) return true;
  return link.port === page.port && LOOPBACK_HOSTS.has(link.hostname) && LOOPBACK_HOSTS.has(page.hostname);
}

const fault = (message: string): SignInLink => ({ kind: 'fault', message });

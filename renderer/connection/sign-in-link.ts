/** The alphabet of the engine's tokens; other characters are invalid in a WebSocket subprotocol. */
const TOKEN = /^[A-Za-z0-9._~-]{1,200}$/;

export const isToken = (text: string): boolean => TOKEN.test(text);

/** The credentials of a sign-in link: a ticket, which the engine exchanges once for a token, or a token. */
export type Admission = { kind: 'ticket'; ticket: string } | { kind: 'token'; token: string };

/** The ticket or token of a fragment `#ticket=…` or `#token=…`; null for any other. */
export function admissionOfFragment(fragment: string): Admission | null {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const [ticket, token] = [parameters.get('ticket'), parameters.get('token')];
  if (ticket !== null && TOKEN.test(ticket)) return { kind: 'ticket', ticket };
  return token !== null && TOKEN.test(token) ? { kind: 'token', token } : null;
}

export type SignInLink =
  | Admission
  /** A link to a Vivarium on another port, to navigate to. */
  | { kind: 'elsewhere'; href: string }
  | { kind: 'fault'; message: string };

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Parses a pasted sign-in link or bare token. `origin` is this page's own. */
export function readSignInLink(text: string, origin: string): SignInLink {
  const trimmed = text.trim();
  if (trimmed === '') return fault('Paste the link that Vivarium printed.');
  if (!trimmed.includes('/')) {
    const admission = admissionOfFragment(trimmed);
    if (admission !== null) return admission;
    const bare = trimmed.replace(/^#?token=/, '');
    return TOKEN.test(bare) ? { kind: 'token', token: bare } : fault('This is neither a link nor a token.');
  }
  const url = URL.parse(trimmed);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return fault('This is not a sign-in link. One begins with http:// and ends with #ticket= and letters.');
  }
  const admission = admissionOfFragment(url.hash);
  if (admission === null) return fault('The part after #ticket= is missing. Copy the link to its end.');
  if (isSamePlace(url, new URL(origin))) return admission;
  if (LOOPBACK_HOSTS.has(url.hostname)) return { kind: 'elsewhere', href: url.href };
  return fault(`The link points to ${url.hostname}, not to a Vivarium on this machine.`);
}

function isSamePlace(link: URL, page: URL): boolean {
  if (link.origin === page.origin) return true;
  return link.port === page.port && LOOPBACK_HOSTS.has(link.hostname) && LOOPBACK_HOSTS.has(page.hostname);
}

const fault = (message: string): SignInLink => ({ kind: 'fault', message });

/**
 * Exchanges a ticket for a token at the engine; null when the ticket has been used or is too old.
 * @throws Error when the engine does not answer
 */
export async function redeemTicket(origin: string, ticket: string): Promise<string | null> {
  const response = await fetch(new URL(`/sign-in/${ticket}`, origin), { method: 'POST' });
  if (!response.ok) return null;
  const { token } = (await response.json()) as { token?: unknown };
  return typeof token === 'string' && TOKEN.test(token) ? token : null;
}

import type { Scheme } from '../base/hostname.ts';

/** A request target (RFC 9112 §3.2); the route's target receives `path`. */
export type RequestTarget =
  | { form: 'origin'; path: string }
  | { form: 'absolute'; scheme: Scheme; authority: string; path: string }
  | { form: 'asterisk' };

export type RequestTargetFault = 'bad_character' | 'fragment' | 'backslash' | 'bad_scheme' | 'not_a_target';

export type RequestTargetResult = { ok: true; target: RequestTarget } | { ok: false; fault: RequestTargetFault };

/** Visible ASCII (RFC 3986 §2); all other characters must be percent-encoded. */
const VISIBLE = /^[\x21-\x7e]+$/;
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?]*)(.*)$/i;

const ASTERISK: RequestTargetResult = { ok: true, target: { form: 'asterisk' } };

/** Reads the request target of `method`, which is never `CONNECT`. */
export function readRequestTarget(method: string, text: string): RequestTargetResult {
  if (!VISIBLE.test(text)) return { ok: false, fault: 'bad_character' };
  if (text.includes('#')) return { ok: false, fault: 'fragment' };
  // Browsers and URL parsers read a backslash as a slash, other programs do not.
  if (text.includes('\\')) return { ok: false, fault: 'backslash' };
  if (text.startsWith('/')) return { ok: true, target: { form: 'origin', path: text } };
  if (text === '*') return method === 'OPTIONS' ? ASTERISK : { ok: false, fault: 'not_a_target' };
  return readAbsoluteForm(method, text);
}

function readAbsoluteForm(method: string, text: string): RequestTargetResult {
  const match = ABSOLUTE.exec(text);
  if (match === null) return { ok: false, fault: 'not_a_target' };
  const [, schemeText = '', authority = '', rest = ''] = match;
  const scheme = schemeText.toLowerCase();
  if (scheme !== 'http' && scheme !== 'https') return { ok: false, fault: 'bad_scheme' };
  // RFC 9112 §3.2.4: OPTIONS with an absolute URI without path and query is the asterisk form of that host.
  const path = rest === '' && method === 'OPTIONS' ? '*' : rest.startsWith('/') ? rest : `/${rest}`;
  return { ok: true, target: { form: 'absolute', scheme, authority, path } };
}

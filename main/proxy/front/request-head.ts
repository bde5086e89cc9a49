import type { Scheme } from '../../base/text/hostname.ts';

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

/** The header data that the authority and identify stages need, gathered in one pass. */
export interface HeaderSurvey {
  fields: number;
  /** The first `Host` field; null if absent. */
  host: string | null;
  hostFields: number;
  authorization: string | null;
  authorizationFields: number;
  transferEncoding: string | null;
}

/**
 * Scans `rawHeaders` (name, value, …). Node's `headers` silently drops a second `Host`, which enables request
 * smuggling.
 */
export function surveyHeaders(rawHeaders: readonly string[]): HeaderSurvey {
  const survey: HeaderSurvey = {
    fields: rawHeaders.length >> 1,
    host: null,
    hostFields: 0,
    authorization: null,
    authorizationFields: 0,
    transferEncoding: null,
  };
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    // Comparing the length first skips nearly every field cheaply.
    if (name.length === 4 && name.toLowerCase() === 'host') {
      survey.hostFields++;
      survey.host ??= rawHeaders[index + 1] as string;
    } else if (name.length === 13 && name.toLowerCase() === 'authorization') {
      survey.authorizationFields++;
      survey.authorization ??= rawHeaders[index + 1] as string;
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      survey.transferEncoding = rawHeaders[index + 1] as string;
    }
  }
  return survey;
}

import { parseAuthority, type Authority, type Scheme } from '../../base/text/hostname.ts';
import type { Problem } from '../../model/problem.ts';
import * as problem from '../problem.ts';

/** A request target (RFC 9112 §3.2); the route's target receives `path`. */
export type RequestTarget =
  | { form: 'origin'; path: string }
  | { form: 'absolute'; scheme: Scheme; authority: string; path: string }
  | { form: 'asterisk' };

export type RequestTargetResult =
  | { ok: true; target: RequestTarget }
  | { ok: false; fault: problem.RequestTargetFault };

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

/** An authority as sent, with its parsed form. */
export interface SentAuthority {
  text: string;
  authority: Authority;
}

/** The parts of a request that determine its authority. */
export interface AuthorityFacts {
  method: string;
  /** The request target as sent; over HTTP/2 the `:path`. */
  target: string;
  /** `1.1`, `1.0`, `2.0`, … as Node reports it. */
  httpVersion: string;
  /** Whether the request came through an HTTP/2 session; an HTTP/1 parser can also report version 2.0. */
  http2: boolean;
  /** HTTP/2's `:authority`; null over HTTP/1.x, or if an HTTP/2 client sent `Host` instead. */
  pseudoAuthority: string | null;
  pseudoScheme: string | null;
  scheme: Scheme;
  headers: HeaderSurvey;
  limits: { headerFieldsMax: number; targetLengthMax: number };
  /** The authority of the previous request on this connection; usually the same, which saves parsing it again. */
  known: SentAuthority | null;
}

export type AuthorityVerdict =
  /** `path` is in origin form, or `*`. `absolute`: the target was a URL, as sent to a proxy. */
  { ok: true; authority: SentAuthority; path: string; absolute: boolean } | { ok: false; problem: Problem };

/**
 * Determines the single authority of a request: exactly one `Host`, an `:authority` that agrees with it, or the
 * authority of an absolute-form target, which overrides `Host` (RFC 9112 §3.2.2). The port of `Host` may differ from
 * the listener's, for example behind a forwarded port or in a container, so it is not compared.
 */
export function readAuthority(facts: AuthorityFacts): AuthorityVerdict {
  const fault = findFault(facts);
  if (fault !== null) return refuse(fault);
  const read = readRequestTarget(facts.method, facts.target);
  if (!read.ok) return refuse(problem.unreadableTarget(read.fault));
  const { target } = read;
  const scheme = target.form === 'absolute' ? target.scheme : facts.pseudoScheme;
  if (scheme !== null && scheme !== facts.scheme) return refuse(problem.wrongScheme(scheme, facts.scheme));
  const text = target.form === 'absolute' ? target.authority : (facts.pseudoAuthority ?? facts.headers.host);
  if (text === null) return refuse(problem.missingHost(facts.httpVersion));
  const authority = facts.known?.text === text ? facts.known : sentAuthority(text);
  if (authority === null) return refuse(problem.unreadableAuthority());
  const absolute = target.form === 'absolute';
  return { ok: true, authority, path: target.form === 'asterisk' ? '*' : target.path, absolute };
}

function sentAuthority(text: string): SentAuthority | null {
  const authority = parseAuthority(text);
  return authority === null ? null : { text, authority };
}

const refuse = (found: Problem): AuthorityVerdict => ({ ok: false, problem: found });

function findFault(facts: AuthorityFacts): Problem | null {
  const { headers, limits } = facts;
  if (facts.target.length > limits.targetLengthMax) return problem.targetTooLong(limits.targetLengthMax);
  if (headers.fields > limits.headerFieldsMax) return problem.tooManyFields(limits.headerFieldsMax);
  if (headers.hostFields > 1) return problem.severalHosts();
  return facts.http2 ? findHttp2Fault(facts) : findHttp1Fault(facts);
}

function findHttp1Fault({ httpVersion, headers }: AuthorityFacts): Problem | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return problem.unsupportedVersion(httpVersion);
  // RFC 9112 §3.2: HTTP/1.1 requires Host for every form of target.
  if (headers.host === null && httpVersion === '1.1') return problem.missingHost(httpVersion);
  if (headers.transferEncoding === null) return null;
  // RFC 9112 §6.1: an HTTP/1.0 hop may have forwarded Transfer-Encoding without decoding it.
  if (httpVersion === '1.0') return problem.uncertainFraming('An HTTP/1.0 request cannot have a Transfer-Encoding.');
  return headers.transferEncoding.trim().toLowerCase() === 'chunked'
    ? null
    : problem.uncertainFraming('The only supported Transfer-Encoding is chunked.');
}

/** RFC 9113 §8.3.1: a `Host` that differs from `:authority` makes the request malformed. */
function findHttp2Fault({ pseudoAuthority, headers }: AuthorityFacts): Problem | null {
  if (pseudoAuthority === null || headers.host === null) return null;
  return pseudoAuthority.toLowerCase() === headers.host.toLowerCase() ? null : problem.conflictingHost();
}

import { type HttpRequest, percentDecoded } from '../base/http/message.ts';

export const TOKEN_PATTERN = /^viv_[0-9A-Za-z]{36}$/;

/** What credentials are: a token of our own form, one of another form, or none. */
export type Credentials = { kind: 'token'; token: string } | { kind: 'foreign' } | { kind: 'missing' };

const DROPPED = '(dropped by Vivarium)';

/** Fields of HTTP and of official clients in which no credentials travel. Others keep short values only. */
const PLAIN =
  /^(?:accept(?:-.+)?|access-control-.+|cache-control|connection|content-.+|date|dnt|expect|forwarded|host|if-.+|keep-alive|max-forwards|origin|pragma|prefer|priority|range|sec-(?:ch|fetch)-.+|te|trailer|transfer-encoding|upgrade|user-agent|via|vivarium-.+|x-forwarded-.+|x-stainless-.+)$/;

/** In the names of fields and of parameters. */
const SECRET = /auth|^code$|cookie|credential|jwt|key|pass|pwd|secret|session|sig(?:nature)?$|token/i;

/** Shorter than the credentials of any provider. */
const SHORT_LENGTH_MAX = 15;

/** Credentials of other providers that their beginning shows, by the providers’ documentation. */
const MARKED =
  /(?:\b|(?<=%[0-9a-f]{2}))(?:(?:vc[aikpr]|cf(?:at|k|ut)|nf[copu]|fm\d[ar]?|fo1|rnd)_|v1\.0-[0-9a-f]{24}-)(?:[\w+/=.-]|%[0-9a-f]{2}){16,}/gi;

const USER = /(?<=^\w+:\/\/)[^/?#]*(?=@)/;
const PARAMETER = /(?<=[?&;#])([^=&;#]*)=([^&;#]*)/g;

/**
 * Overwrites all credentials in a request, whatever provider they are for, unless they have our own form. Called before
 * anything logs or records it.
 */
export function dropCredentials(request: Pick<HttpRequest, 'headers' | 'rawHeaders' | 'url'>): void {
  const { headers, rawHeaders } = request;
  const url = request.url
    ?.replace(USER, '-')
    .replaceAll(PARAMETER, (all, name: string, value: string) => {
      return SECRET.test(percentDecoded(name)) && !TOKEN_PATTERN.test(value) ? `${name}=-` : all;
    })
    .replaceAll(MARKED, '-');
  if (url !== request.url && url !== undefined) request.url = url;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const kept = name === ':path' ? (url ?? '') : keptOf(name, rawHeaders[index + 1] ?? '');
    if (kept === rawHeaders[index + 1]) continue;
    rawHeaders[index + 1] = kept;
    headers[name] = kept;
  }
}

function keptOf(name: string, value: string): string {
  if (name === 'host' || name.startsWith(':')) return value.replace(/^.*@/, '-@');
  if (TOKEN_PATTERN.test(tokenIn(value))) return value;
  return SECRET.test(name) || (value.length > SHORT_LENGTH_MAX && !PLAIN.test(name))
    ? DROPPED
    : value.replaceAll(MARKED, '-');
}

const tokenIn = (value: string): string => value.replace(/^bearer +/i, '').trim();

/** Whether a text has credentials of another provider, which their beginning shows. */
export const hasMarked = (text: string): boolean => text.search(MARKED) !== -1;

/** The token in the fields that a provider names; with another credential beside it, it is foreign as well. */
export function readCredentials(rawHeaders: readonly string[], fields: readonly string[]): Credentials {
  let found: Credentials = { kind: 'missing' };
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    if (!fields.includes(name)) continue;
    const token = tokenIn(rawHeaders[index + 1] ?? '');
    if (!TOKEN_PATTERN.test(token)) return { kind: 'foreign' };
    if (found.kind === 'missing') found = { kind: 'token', token };
  }
  return found;
}

/** The user name at the engine’s proxy with which a token is sent as the password. */
const PROXY_USER = 'provider';

export const proxyCredentials = (token: string): string => `${PROXY_USER}:${token}`;

/** The token of `Proxy-Authorization`; null if its credentials are for no provider. */
export function tokenOfProxy(authorization: string | undefined): string | null {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization ?? '')?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('latin1');
  return text.startsWith(`${PROXY_USER}:`) ? text.slice(PROXY_USER.length + 1) : null;
}

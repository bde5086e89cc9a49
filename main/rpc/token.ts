import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Says whether a text is `token`, in a time that tells nothing of how much of it is right. */
export function createTokenCheck(token: string): (candidate: string) => boolean {
  if (token === '') throw new RangeError('The control port needs a token that is not empty.');
  const expected = digest(token);
  return (candidate) => timingSafeEqual(digest(candidate), expected);
}

/** The token in `Authorization: Bearer <token>` (RFC 6750 §2.1; the scheme in any case), or null. */
export function readBearerToken(authorization: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** What a browser's WebSocket can carry besides the address: subprotocols (RFC 6455 §1.9). */
export const SOCKET_PROTOCOL = 'vivarium';
const TOKEN_PROTOCOL_PREFIX = 'token.';

/** The token in `Sec-WebSocket-Protocol: vivarium, token.<token>`, or null when either part is missing. */
export function readProtocolToken(header: string | undefined): string | null {
  const protocols = (header ?? '').split(',').map((protocol) => protocol.trim());
  if (!protocols.includes(SOCKET_PROTOCOL)) return null;
  const carrier = protocols.find((protocol) => protocol.startsWith(TOKEN_PROTOCOL_PREFIX));
  return carrier?.slice(TOKEN_PROTOCOL_PREFIX.length) ?? null;
}

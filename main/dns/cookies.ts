import { createHmac, randomBytes } from 'node:crypto';

const OPTION_COOKIE = 10;

/** RFC 7873 §4: a client cookie has 8 octets, a server cookie 8 to 32; ours has 16. */
const CLIENT_OCTETS = 8;
const SERVER_OCTETS = 16;
const SERVER_OCTETS_MIN = 8;
const SERVER_OCTETS_MAX = 32;

/** The size of the option in a reply, with its code and length. */
export const COOKIE_OPTION_OCTETS = 4 + CLIENT_OCTETS + SERVER_OCTETS;

/** Where the options of an OPT record are in a message. */
export interface OptionsAt {
  start: number;
  end: number;
}

/** A query's client cookie; null without one, or `malformed` (RFC 7873 §5.2.2). */
export function readClientCookie(message: Buffer, { start, end }: OptionsAt): Buffer | 'malformed' | null {
  for (let at = start; at + 4 <= end;) {
    const code = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 2);
    const data = at + 4;
    at = data + length;
    if (code !== OPTION_COOKIE) continue;
    const server = length - CLIENT_OCTETS;
    const fits = server === 0 || (server >= SERVER_OCTETS_MIN && server <= SERVER_OCTETS_MAX);
    return fits && at <= end ? message.subarray(data, data + CLIENT_OCTETS) : 'malformed';
  }
  return null;
}

/**
 * The option for the reply to a client cookie. All clients are on this machine, so the server cookie depends on neither
 * address nor time, and queries with a wrong one are answered like those without (RFC 7873 §5.2.4).
 */
export function createCookies(): (clientCookie: Buffer) => Buffer {
  const secret = randomBytes(32);
  return (clientCookie) => {
    const option = Buffer.alloc(COOKIE_OPTION_OCTETS);
    option.writeUInt16BE(OPTION_COOKIE);
    option.writeUInt16BE(CLIENT_OCTETS + SERVER_OCTETS, 2);
    clientCookie.copy(option, 4);
    createHmac('sha256', secret)
      .update(clientCookie)
      .digest()
      .copy(option, 4 + CLIENT_OCTETS, 0, SERVER_OCTETS);
    return option;
  };
}

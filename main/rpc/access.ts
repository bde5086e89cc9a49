import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DAY_MS } from '../contract/duration.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { readBearerToken } from '../base/http/message.ts';
import { findConnectionOwner, isAnotherUser } from '../base/system/port-holder.ts';
import { randomBase62 } from '../base/secret.ts';
import { notFound, VivariumError } from '../contract/errors.ts';
import { requireMethod, sendFailure, sendJson } from './responses.ts';
import { DEFAULT_PORT } from '../base/text/hostname.ts';

/**
 * Decides which requests may reach the control port at all, before any token is checked.
 *
 * Any web page can make the developer's browser send requests to 127.0.0.1, and an attacker's hostname can resolve
 * there (DNS rebinding). The browser's headers reveal both: the name that it connected to (`Host`), the page that sent
 * the request (`Origin`), and the relation of the two (`Sec-Fetch-Site`).
 */

/** The deciding parts of a request; header values as sent, `undefined` for a missing header. */
export interface RequestOrigin {
  /** The request target, as on the request line. */
  target: string;
  /** All `Host` headers: exactly one is acceptable (RFC 9112 §3.2). */
  hosts: readonly string[];
  origin: string | undefined;
  fetchSite: string | undefined;
  fetchMode: string | undefined;
}

/** Hostnames of the control port; all of them mean loopback, regardless of any resolver. */
const CONTROL_HOSTNAMES = ['127.0.0.1', 'localhost', '[::1]', 'vivarium.localhost'] as const;

/** The authorities accepted on `port`, in lower case. */
export function controlAuthorities(port: number): string[] {
  const withPort = CONTROL_HOSTNAMES.map((hostname) => `${hostname}:${port}`);
  // RFC 9110 §4.2.1: the default port may be omitted from the authority.
  return port === DEFAULT_PORT.http ? [...CONTROL_HOSTNAMES, ...withPort] : withPort;
}

/**
 * Returns the reason for refusing a request as a sentence, or null to accept it. Browser headers are optional: a script
 * sends neither `Origin` nor `Sec-Fetch-Site`, and still needs the token.
 */
export function refusalOf(request: RequestOrigin, port: number): string | null {
  const own = controlAuthorities(port);
  if (!request.target.startsWith('/')) return 'The request target must be a path: the control port is not a proxy.';
  const [host, ...more] = request.hosts;
  if (host === undefined || more.length > 0) return 'A request needs exactly one Host header.';
  if (!own.includes(host.toLowerCase())) {
    return `The Host ${quote(host)} is not one of the control port's names: ${own.join(', ')}.`;
  }
  if (request.origin !== undefined && !own.some((authority) => request.origin === `http://${authority}`)) {
    return `The Origin ${quote(request.origin)} is not allowed; only the interface on this port is.`;
  }
  return fetchRefusalOf(request);
}

/**
 * `same-site` is a page on another port or a sibling hostname, such as a project's own page: it may link here, nothing
 * else.
 */
function fetchRefusalOf({ fetchSite, fetchMode }: RequestOrigin): string | null {
  if (fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none') return null;
  if (fetchSite === 'same-site' && fetchMode === 'navigate') return null;
  return `Requests with Sec-Fetch-Site ${quote(fetchSite)} are not allowed; only the interface on this port may send requests.`;
}

/** Shortens a refused value for the message. */
const QUOTED_LENGTH_MAX = 100;

const quote = (text: string): string => JSON.stringify(text.slice(0, QUOTED_LENGTH_MAX));

/** Browsers can send no header with a WebSocket but its subprotocols (RFC 6455 §1.9). */
export const SOCKET_PROTOCOL = 'vivarium';
const TOKEN_PROTOCOL_PREFIX = 'token.';

/** The token in `Sec-WebSocket-Protocol: vivarium, token.<token>`, or null if either part is missing. */
export function readProtocolToken(header: string | undefined): string | null {
  const protocols = (header ?? '').split(',').map((protocol) => protocol.trim());
  if (!protocols.includes(SOCKET_PROTOCOL)) return null;
  const carrier = protocols.find((protocol) => protocol.startsWith(TOKEN_PROTOCOL_PREFIX));
  return carrier?.slice(TOKEN_PROTOCOL_PREFIX.length) ?? null;
}

/** Longer than a tab is usually open; after that, a session found on a disk is worthless. */
const SESSION_MS_MAX = 7 * DAY_MS;

/** `s.<end of its life>.<signature>`; the token itself has no full stop. */
const SESSION = /^s\.([0-9a-z]{1,12})\.([\w-]{43})$/;

/**
 * The credentials of callers: the token, for scripts; and sessions, for browsers, which store a page's data on disk. A
 * session is signed with the token: it outlives a restart and ends with the token.
 * @param realNow real time in milliseconds since the epoch
 */
export function createAccess(token: string, realNow: () => number) {
  let current = checked(token);
  const sign = (end: string): string => createHmac('sha256', current).update(`session ${end}`).digest('base64url');
  return {
    /** Whether it is the token or a session that has not expired. */
    accepts(candidate: string): boolean {
      const [, end, signature] = SESSION.exec(candidate) ?? [];
      if (end === undefined || signature === undefined) return isEqual(candidate, current);
      return isEqual(signature, sign(end)) && Number.parseInt(end, 36) > realNow();
    },
    session(): string {
      const end = (realNow() + SESSION_MS_MAX).toString(36);
      return `s.${end}.${sign(end)}`;
    },
    /** Replaces the token, which ends all sessions. */
    replace(next: string): void {
      current = checked(next);
    },
  };
}

export type Access = ReturnType<typeof createAccess>;

function checked(token: string): string {
  if (token === '') throw new RangeError('The control port needs a token that is not empty.');
  return token;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** In constant time. */
const isEqual = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

export const SIGN_IN_PATH = '/sign-in';

/** Long enough for a browser that has to be started first. */
const TICKET_MS_MAX = 60_000;

/** Far more browsers than a user opens within a minute. */
const TICKETS_MAX = 20;

export interface SignInOptions {
  clock: Pick<Clock, 'realTimer'>;
  access: Access;
  /** The user who owns a connection, if the system can tell. */
  ownerOf?: (request: IncomingMessage) => number | null;
}

/**
 * One-time sign-in links to the interface. A link carries a ticket in its fragment, which the page exchanges for a
 * session: the browser's history, its synchronisation, and the list of processes, which all users of the machine can
 * read, contain nothing of value.
 */
export function createSignIn({ clock, access, ownerOf = ownerOfClient }: SignInOptions) {
  const tickets = new Set<string>();

  function issue(lifetimeMs = TICKET_MS_MAX): string {
    const ticket = randomBase62(43);
    tickets.add(ticket);
    const [oldest] = tickets;
    if (tickets.size > TICKETS_MAX && oldest !== undefined) tickets.delete(oldest);
    clock.realTimer(lifetimeMs, () => tickets.delete(ticket));
    return `/#ticket=${ticket}`;
  }

  function give(request: IncomingMessage, response: ServerResponse): void {
    const shown = readBearerToken(request.headers.authorization);
    if (shown === null || !access.accepts(shown)) {
      throw new VivariumError('unauthorized', 'A sign-in link needs the token.');
    }
    sendJson(response, 201, JSON.stringify({ path: issue() }));
  }

  function redeem(request: IncomingMessage, response: ServerResponse, ticket: string): void {
    const owner = ownerOf(request);
    // Accepts unknown owners, and the system's administrator, who can read the token anyway.
    if (owner !== null && isAnotherUser(owner)) {
      // The ticket stays valid for its own user.
      throw new VivariumError('forbidden', 'This sign-in link is for another user of this machine.');
    }
    if (!tickets.delete(ticket)) {
      throw notFound('This sign-in link has been used before, or is too old. Ask for a new one.');
    }
    sendJson(response, 200, JSON.stringify({ token: access.session() }));
  }

  return {
    /** The path of a new link, valid for a minute unless specified. */
    issue,
    /** `POST /sign-in` with the token creates a link; `POST /sign-in/<ticket>` exchanges a ticket for a session. */
    handle(request: IncomingMessage, response: ServerResponse, path: string): void {
      try {
        requireMethod(request, response, ['POST'], 'POST /sign-in creates a link, POST /sign-in/<ticket> uses it.');
        const ticket = path.slice(SIGN_IN_PATH.length + 1);
        if (ticket === '') give(request, response);
        else redeem(request, response, ticket);
      } catch (error) {
        sendFailure(response, error);
      }
      request.resume();
    },
  };
}

const ownerOfClient = ({ socket }: IncomingMessage): number | null =>
  findConnectionOwner(socket.remotePort ?? 0, socket.localPort ?? 0);

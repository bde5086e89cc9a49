import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { readBearerToken } from '../base/http/fields.ts';
import { randomBase62 } from '../base/secret.ts';
import { VivariumError } from '../contract/errors.ts';
import { COMMON_HEADERS, sendFailure, sendJson } from './responses.ts';

export const SIGN_IN_PATH = '/sign-in';

/** Long enough for a browser that has to be started first. */
const TICKET_MS_MAX = 60_000;

/** Far more browsers than a user opens within a minute. */
const TICKETS_MAX = 20;

export interface SignInOptions {
  clock: Pick<Clock, 'realTimer'>;
  token: string;
  isToken: (candidate: string) => boolean;
}

/**
 * One-time sign-in links to the interface, valid for a minute. A program's arguments are visible to all users of the
 * machine in the list of processes, so the token itself must not be among them.
 */
export interface SignIn {
  /** The path of a new link. */
  issue(): string;
  /** `POST /sign-in` with the token creates a link; `GET` of a link redirects to the interface. */
  handle(request: IncomingMessage, response: ServerResponse, path: string): void;
}

export function createSignIn({ clock, token, isToken }: SignInOptions): SignIn {
  const tickets = new Set<string>();

  function issue(): string {
    const ticket = randomBase62(43);
    tickets.add(ticket);
    const [oldest] = tickets;
    if (tickets.size > TICKETS_MAX && oldest !== undefined) tickets.delete(oldest);
    clock.realTimer(TICKET_MS_MAX, () => tickets.delete(ticket));
    return `${SIGN_IN_PATH}/${ticket}`;
  }

  function give(request: IncomingMessage, response: ServerResponse): void {
    const shown = readBearerToken(request.headers.authorization);
    if (shown === null || !isToken(shown)) throw new VivariumError('unauthorized', 'A sign-in link needs the token.');
    sendJson(response, 201, JSON.stringify({ path: issue() }));
  }

  function redeem(response: ServerResponse, ticket: string): void {
    if (!tickets.delete(ticket)) {
      throw new VivariumError(
        'not_found',
        'This link has been used, or is older than a minute. Open the interface again where you opened it, or with the link that Vivarium printed.',
      );
    }
    response.writeHead(303, { ...COMMON_HEADERS, 'Cache-Control': 'no-store', Location: `/#token=${token}` });
    response.end();
  }

  return {
    issue,
    handle(request, response, path) {
      try {
        const ticket = path.slice(SIGN_IN_PATH.length + 1);
        if (request.method === 'POST' && ticket === '') give(request, response);
        else if (request.method === 'GET' && ticket !== '') redeem(response, ticket);
        else throw new VivariumError('method_not_allowed', 'POST /sign-in gives a link, GET follows one.');
      } catch (error) {
        sendFailure(response, error);
      }
      request.resume();
    },
  };
}

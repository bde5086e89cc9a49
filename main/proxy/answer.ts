import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { prefersHtml } from './accept.ts';
import type { ErrorPages } from './error-pages.ts';
import type { Exchange } from './exchange.ts';
import type { Problem } from './problem.ts';
import type { Scheme } from '../base/hostname.ts';
import type { ProxyResponse } from './target.ts';

/** What the proxy itself answers with, instead of a target. */
export type Answer =
  | { kind: 'problem'; problem: Problem }
  | { kind: 'redirect'; status: number; location: string }
  | { kind: 'options'; allow: string };

/** Hostnames that an error lists: enough to find one's own, few enough to read. */
const SERVED_IN_PAGE_MAX = 100;
const SERVED_IN_MESSAGE_MAX = 10;

/** The ports that URLs without a port mean. */
export const DEFAULT_PORT: Record<Scheme, number> = { http: 80, https: 443 };

/** `scheme://hostname[:port]`; the port is left out where it is the scheme's own. */
export function originOf(scheme: Scheme, hostname: string, port: number): string {
  return port === DEFAULT_PORT[scheme] ? `${scheme}://${hostname}` : `${scheme}://${hostname}:${port}`;
}

/** Writes `answer` as the response of `exchange`; a request body that still arrives is read away within bounds. */
export function writeAnswer(exchange: Exchange, answer: Answer, pages: ErrorPages, drainBytesMax: number): void {
  const { response, stream } = exchange;
  const { status, headers, body } = render(exchange, answer, pages);
  if (stream === null && answer.kind === 'problem' && answer.problem.close) {
    headers['Connection'] = 'close';
  }
  exchange.answered = true;
  headers['Content-Length'] = Buffer.byteLength(body);
  asHttp1(response).writeHead(status, headers);
  endAfterBody(exchange, body, drainBytesMax);
}

/** The compatibility layer of HTTP/2 has the same methods; only their overloads do not unite. */
const asHttp1 = (response: ProxyResponse): ServerResponse => response as ServerResponse;

/**
 * Closing a socket with unread bytes resets it, and a reset can overtake the response. So the response is sent, and
 * ended only when the rest of the request has been read. HTTP/2 has flow control and needs none of this; a client that
 * waits for 100 (Continue) sends no rest.
 */
function endAfterBody(
  { request, response, stream, awaitsContinue }: Exchange,
  body: string,
  drainBytesMax: number,
): void {
  if (stream !== null || request.complete || awaitsContinue) {
    response.end(body);
    return;
  }
  let drained = 0;
  asHttp1(response).write(body);
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > drainBytesMax) request.socket.destroy();
  });
  request.on('end', () => response.end());
}

interface Rendered {
  status: number;
  headers: OutgoingHttpHeaders;
  body: string;
}

function render(exchange: Exchange, answer: Answer, pages: ErrorPages): Rendered {
  switch (answer.kind) {
    case 'options':
      return { status: 200, headers: { Allow: answer.allow }, body: '' };
    case 'redirect':
      return {
        status: answer.status,
        headers: { Location: answer.location, 'Content-Type': 'text/plain; charset=utf-8' },
        body: `This hostname is redirected to ${answer.location}\n`,
      };
    case 'problem':
      return prefersHtml(exchange.request.headers.accept)
        ? renderPage(exchange, answer.problem, pages)
        : renderJson(exchange, answer.problem);
  }
}

/** What depends on `Accept`, and on what is served at this moment, is not for caches. */
const COMMON_HEADERS = { Vary: 'Accept', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

function renderJson(exchange: Exchange, { code, status, message, headers, listServed }: Problem): Rendered {
  const text = listServed ? `${message} ${describeServed(exchange)}` : message;
  return {
    status,
    headers: { ...COMMON_HEADERS, 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify({ code, message: text, status }),
  };
}

function renderPage(exchange: Exchange, problem: Problem, pages: ErrorPages): Rendered {
  const { status, heading, message, headers } = problem;
  return {
    status,
    headers: {
      ...COMMON_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': pages.contentSecurityPolicy,
      'Referrer-Policy': 'no-referrer',
      ...headers,
    },
    body: pages.render({ status, heading, message, served: problem.listServed ? listServed(exchange) : null }),
  };
}

function listServed({ table, connection }: Exchange): { links: { url: string; text: string }[]; more: number } {
  const { hostnames, total } = table.served(SERVED_IN_PAGE_MAX);
  const { scheme, port } = connection.listener;
  return {
    links: hostnames.map((hostname) => ({ url: `${originOf(scheme, hostname, port)}/`, text: hostname })),
    more: total - hostnames.length,
  };
}

/** What is served, in a sentence. */
export function describeServed({ table, connection }: Pick<Exchange, 'table' | 'connection'>): string {
  const { hostnames, total } = table.served(SERVED_IN_MESSAGE_MAX);
  if (total === 0) return 'Nothing is served here yet: create a project first.';
  const { scheme, port } = connection.listener;
  const more = total > hostnames.length ? ` and ${total - hostnames.length} more` : '';
  return `Served here: ${hostnames.map((hostname) => originOf(scheme, hostname, port)).join(', ')}${more}.`;
}

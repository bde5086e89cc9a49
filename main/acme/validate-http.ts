import { once } from 'node:events';
import { request as openHttp, type IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { bodyUpTo } from '../base/http/message.ts';
import type { AcmeAttempt } from '../model/acme.ts';
import type { NamedFault } from '../model/fault.ts';
import { dial, findDestinations, hostOf, failed, reasonOf, shown, VALIDATION_MS_MAX } from './outcome.ts';
import type { Answered, Outcome, Task } from './outcome.ts';
import { AcmeError } from './problem.ts';

/** Boulder's limits (`va/http.go`), which clients encounter in production. */
const REDIRECTS_MAX = 10;
const REDIRECT_STATUS: ReadonlySet<number> = new Set([301, 302, 307, 308]);
const BODY_OCTETS_MAX = 128;
const PATH_LENGTH_MAX = 2_000;

/** Requests of one validation, over all addresses and redirects. */
const REQUESTS_MAX = 30;

export interface HttpValidation {
  resolve(hostname: string): Promise<Answered>;
  /** The local port that replaces port 80 or 443 of a hostname. */
  localPort(hostname: string, scheme: 'http' | 'https'): number;
  userAgent: string;
  /** Returns the response to evaluate, which a running break may replace. */
  arriving(url: URL, got: HttpReply): HttpReply;
}

/** http-01 (RFC 8555 §8.3). */
export async function validateHttp(task: Task, options: HttpValidation): Promise<Outcome> {
  const { identifier, token, keyAuthorization } = task;
  const attempts: AcmeAttempt[] = [];
  const signal = AbortSignal.timeout(VALIDATION_MS_MAX);
  const allowed = new Set([80, 443]);

  /** Returns null when a destination answers correctly, otherwise the last failure. */
  async function follow(url: URL, seen: readonly string[]): Promise<AcmeError | null> {
    const refused = redirectFault(url, seen, allowed);
    if (refused !== null) return new AcmeError('connection', refused);
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    const type = isIP(hostname) === 0 ? 'dns' : 'ip';
    const destinations = await findDestinations({ type, value: hostname }, options.resolve, attempts);
    if (!destinations.ok) return new AcmeError(destinations.type, destinations.detail);
    const scheme = url.protocol === 'https:' ? 'https' : 'http';
    const port = portOf(url) === null ? options.localPort(hostname, scheme) : Number(url.port);
    let last: AcmeError | null = null;
    for (const address of destinations.addresses) {
      const sent = attempts.filter(({ request }) => request !== undefined).length;
      if (sent >= REQUESTS_MAX) return new AcmeError('connection', 'The validation needs too many requests.');
      const error = await ask(url, { address, port, hostname, seen });
      if (error === null) return null;
      // A wrong response is a better error than a refused connection.
      if (last === null || error.type !== 'connection') last = error;
    }
    return last;
  }

  async function ask(
    url: URL,
    { address, port, hostname, seen }: { address: string; port: number; hostname: string; seen: readonly string[] },
  ): Promise<AcmeError | null> {
    const what = `GET ${url.href} at ${hostOf(address)}:${port}`;
    const note = (found: string): void =>
      void attempts.push({ what, found, request: { hostname, path: url.pathname, port } });
    const got = await dial(address, port, signal)
      .then((socket) => get(url, { socket, hostname, signal, userAgent: options.userAgent }))
      .catch((error: unknown) => ({ failure: reasonOf(error) }));
    const answer = options.arriving(url, got);
    if ('failure' in answer) {
      note(answer.failure);
      return new AcmeError('connection', `${what}: ${answer.failure}.`);
    }
    const { status, location, body, brokenBy } = answer;
    const why = brokenBy === undefined ? '' : `, broken on purpose: ${brokenBy.entry}`;
    if (REDIRECT_STATUS.has(status) && location !== undefined) {
      note(`status ${status}, Location: ${shown(location)}${why}`);
      const next = URL.canParse(location, url.href) ? new URL(location, url) : null;
      if (next === null)
        return new AcmeError('connection', `${what} redirects to ${shown(location)}, which is not a URL.`);
      return await follow(next, [...seen, url.href]);
    }
    note(`status ${status}, ${sizeOf(body)}: ${shown(body)}${why}`);
    if (status !== 200) return new AcmeError('unauthorized', `${what} was answered with status ${status}.`);
    if (body.trimEnd() === keyAuthorization) return null;
    return new AcmeError(
      'unauthorized',
      `${what} was answered with ${shown(body)} instead of the key authorization ${shown(keyAuthorization)}.`,
    );
  }

  const start = new URL(`http://${hostOf(identifier.value)}/.well-known/acme-challenge/${token}`);
  const error = await follow(start, []);
  return error === null ? { attempts, error } : failed(error.type, error.detail, attempts);
}

/** Bodies are read up to the length that a challenge may have. */
const sizeOf = ({ length }: string): string =>
  length > BODY_OCTETS_MAX ? `more than ${BODY_OCTETS_MAX} bytes` : length === 1 ? '1 byte' : `${length} bytes`;

const portOf = ({ port, protocol }: URL): string | null =>
  port === '' || port === (protocol === 'https:' ? '443' : '80') ? null : port;

/** Why a redirect is not followed; null if it is. */
function redirectFault(url: URL, seen: readonly string[], ports: ReadonlySet<number>): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return `The redirect to ${shown(url.href)} is neither HTTP nor HTTPS.`;
  }
  if (url.port !== '' && !ports.has(Number(url.port))) {
    return `The redirect to ${shown(url.href)} uses port ${url.port}; only ports 80 and 443 are allowed.`;
  }
  if (url.hostname.endsWith('.well-known')) {
    return `The redirect to ${shown(url.href)} lacks a slash between the host and the path.`;
  }
  if (url.pathname.length > PATH_LENGTH_MAX) return `A redirect has a path of more than ${PATH_LENGTH_MAX} characters.`;
  if (seen.includes(url.href)) return `The redirects lead back to ${shown(url.href)}.`;
  if (seen.length > REDIRECTS_MAX) return `There are more than ${REDIRECTS_MAX} redirects.`;
  return null;
}

/** A response, or why there is none. */
export type HttpReply =
  | { status: number; location: string | undefined; body: string; brokenBy?: NamedFault }
  | { failure: string };

/** Sends one GET. The certificate is not verified: the server may not have a valid one yet. */
async function get(
  url: URL,
  to: { socket: Socket; hostname: string; signal: AbortSignal; userAgent: string },
): Promise<HttpReply> {
  const { socket, hostname, signal, userAgent } = to;
  const secure = { socket, rejectUnauthorized: false, minVersion: 'TLSv1.2' } as const;
  const sent = openHttp({
    ...{ signal, path: url.pathname + url.search },
    createConnection: () =>
      url.protocol === 'http:' ? socket : connectTls({ ...secure, servername: isIP(hostname) === 0 ? hostname : '' }),
    headers: { Host: url.host, 'User-Agent': userAgent, Accept: '*/*' },
  }).end();
  try {
    // Node emits neither "response" nor "error" when the server switches protocols.
    const arrived = await Promise.race([once(sent, 'response'), once(sent, 'upgrade')]);
    const response = arrived[0] as IncomingMessage;
    const { statusCode: status = 0, headers } = response;
    const body = status === 101 ? '' : (await bodyUpTo(BODY_OCTETS_MAX, response)).toString('latin1');
    return { status, location: headers.location, body };
  } finally {
    sent.destroy();
  }
}

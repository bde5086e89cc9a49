import { isIP } from 'node:net';
import type { Scheme } from '../base/text/hostname.ts';
import { problemOf, type Problem } from '../model/problem.ts';

/** A request with an ambiguous meaning; the connection closes after the answer. */
const malformed = (heading: string, message: string): Problem =>
  problemOf('invalid_request', heading, message, { close: true });

export const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export const plainHttpOnTls = (secureUrl: string): Problem =>
  malformed('This port speaks HTTPS', `A plain HTTP request came to the HTTPS port. Use ${secureUrl} instead.`);

export const missingHost = (httpVersion: string): Problem =>
  httpVersion === '1.0'
    ? malformed('No Host', 'The HTTP/1.0 request has no Host header field. Send one.')
    : malformed('No Host', 'The request has no Host header field. Send exactly one (RFC 9112 §3.2).');

export const severalHosts = (): Problem =>
  malformed('More than one Host', 'The request has more than one Host header field. Send exactly one (RFC 9112 §3.2).');

export const conflictingHost = (): Problem =>
  malformed(
    'Conflicting hosts',
    'The :authority and the Host header field of the request differ. Send only one of them, or the same value in both.',
  );

export const unreadableAuthority = (): Problem =>
  malformed(
    'Unreadable Host',
    'The host of the request is not of the form hostname or hostname:port. Correct the Host header field or the URL.',
  );

export const unsupportedVersion = (version: string): Problem =>
  malformed(
    'Unsupported HTTP version',
    `This connection does not support HTTP/${version}. Use HTTP/1.1, or HTTP/2 by ALPN over HTTPS.`,
  );

export const uncertainFraming = (fault: string): Problem =>
  malformed(
    'Unclear where the request ends',
    `${fault} Send Content-Length, or Transfer-Encoding: chunked over HTTP/1.1.`,
  );

const TARGET_FAULTS = {
  bad_character: 'The request target contains a character that is not visible ASCII. Percent-encode it.',
  fragment: 'The request target contains a fragment (#…), which is for the client only. Leave it out, or send %23.',
  backslash: 'The request target contains a backslash. Send a slash, or %5C.',
  bad_scheme: 'The scheme of the request target is neither http nor https.',
  not_a_target: 'The request target is neither a path that begins with a slash nor an http or https URL.',
};

export type RequestTargetFault = keyof typeof TARGET_FAULTS;

export const unreadableTarget = (fault: RequestTargetFault): Problem =>
  malformed('Unreadable request target', TARGET_FAULTS[fault]);

export const wrongScheme = (asked: string, spoken: Scheme): Problem =>
  problemOf(
    'misdirected_request',
    'Wrong scheme',
    `The request is for an ${asked} URL, but this connection is ${spoken}. Send it over ${asked}.`,
  );

export const misdirected = (serverName: string, asked: string): Problem =>
  problemOf(
    'misdirected_request',
    'Connection for a different hostname',
    `This TLS connection was opened for ${serverName}, but the request is for ${asked}. Open a connection with ${asked} as its server name.`,
  );

export const targetTooLong = (max: number): Problem =>
  problemOf(
    'uri_too_long',
    'The URL is too long',
    `The request target has more than ${max} characters. Shorten it, or send the data in a body.`,
    { close: true },
  );

export const tooManyFields = (max: number): Problem =>
  problemOf(
    'header_fields_too_large',
    'Too many header fields',
    `The request has more than ${max} header fields. Send fewer.`,
    { close: true },
  );

/** Addresses and `localhost` can never be a project's hostname. */
const isMachineName = (host: string): boolean => host === 'localhost' || host.startsWith('[') || isIP(host) !== 0;

/**
 * Whether `host` is a name that leads to this machine for everybody: an address, or `localhost` and what is below it
 * (RFC 6761 §6.3). Any other name may have been pointed here by its owner, whose page would read an answer as its own
 * (DNS rebinding); such an answer does not list hostnames.
 */
const isOwnName = (host: string): boolean => isMachineName(host) || host.endsWith('.localhost');

/** `reason`: why an attached hostname is not served. */
export const notServed = (asked: string, host: string, reason: string | null): Problem =>
  problemOf(
    'not_found',
    `Nothing is served at ${asked}`,
    isMachineName(host)
      ? `${host} does not belong to any project. Use a hostname that is served.`
      : (reason ?? `No project has the hostname ${host}. Attach it to a project, or use one that is served.`),
    { listServed: isOwnName(host) || reason !== null },
  );

/** For a client that is served only some hostnames; it gets the same answer for all others. */
export const notShared = (asked: string): Problem =>
  problemOf(
    'not_found',
    `Nothing is served to other devices at ${asked}`,
    'This address serves other devices: its page is at the path /, and the projects’ custom hostnames are served. A name below localhost means the device itself; attach a custom domain to its project instead.',
  );

export const connectRefused = (): Problem =>
  problemOf(
    'method_not_allowed',
    'Not a tunnel',
    'CONNECT is served on the HTTP port only, and not inside a tunnel. Send the request to the hostname itself.',
    { close: true, headers: ['Allow', ALLOWED_METHODS] },
  );

/** A tunnel with the token of a connection to a provider that does not exist; says nothing of the target. */
export const connectionUnknown = (): Problem => ({
  ...malformed(
    'No such connection',
    'The credentials for this proxy are those of no connection to a provider’s API. List them: `providers.list`.',
  ),
  status: 407,
  headers: ['Proxy-Authenticate', 'Basic realm="Vivarium"'],
});

export const traceRefused = (): Problem =>
  problemOf(
    'method_not_allowed',
    'No trace',
    'Max-Forwards ends this TRACE here, and Vivarium does not answer TRACE itself. Raise Max-Forwards to reach the upstream.',
    { headers: ['Allow', ALLOWED_METHODS] },
  );

export const notReached = (asked: string, host: string): Problem =>
  problemOf(
    'forbidden',
    `This proxy does not forward to ${asked}`,
    isMachineName(host)
      ? `It forwards only to hostnames that are served here, never to an address. Use a hostname, or exclude ${host} from the proxy.`
      : `It forwards only to hostnames that are served here, and ${host} is not one. Attach it to a project, or exclude it from the proxy, as the PAC file does.`,
    { listServed: isOwnName(host) },
  );

const noPort = (port: number | null, message: string): Problem =>
  problemOf('forbidden', `This proxy does not forward to port ${port}`, message);

export const portNotReached = (host: string, port: number, ports: Readonly<Record<Scheme, number>>): Problem =>
  noPort(
    port,
    `For ${host} it forwards to ports 443 and ${ports.https} (HTTPS), 80 and ${ports.http} (HTTP), which are this Vivarium’s listeners. Use one of them, or no proxy for port ${port}.`,
  );

export const providerPortNotReached = (host: string, port: number): Problem =>
  noPort(port, `${host} is simulated here, and answers over HTTPS at port 443 only. Use https://${host}.`);

export const urlPortNotReached = (host: string, port: number | null, own: readonly number[]): Problem =>
  noPort(
    port,
    `For ${host} it forwards to port ${own.join(' and ')} here. Use one of them, or no proxy for port ${port}.`,
  );

export const unreadableConnect = (): Problem =>
  malformed(
    'Unreadable CONNECT',
    'The target of CONNECT is not of the form hostname:port. Send a hostname and a port, and nothing else.',
  );

export const conflictingConnect = (): Problem =>
  malformed(
    'Conflicting hosts',
    'The target of CONNECT and the Host header field differ. Send the same hostname in both (RFC 9112 §3.2).',
  );

export const connectWithContent = (): Problem =>
  malformed(
    'CONNECT with content',
    'A CONNECT request has no content (RFC 9110 §9.3.6). Leave out Content-Length and Transfer-Encoding.',
  );

export const tooEarlyConnect = (): Problem =>
  malformed(
    'CONNECT came too early',
    'Earlier requests on this connection are not answered yet. Read their answers first, or use a new connection.',
  );

export const stoppingNow = (): Problem =>
  problemOf('unavailable', 'Vivarium is stopping', 'Vivarium is stopping and opens no more tunnels.', { close: true });

export const tooManyPipelined = (max: number): Problem =>
  problemOf(
    'unavailable',
    'Too many requests at once',
    `More than ${max} requests on this connection are waiting for an answer. Read the answers first.`,
    { close: true },
  );

export const failed = (): Problem =>
  problemOf('internal_error', 'Vivarium failed', 'Vivarium failed to answer this request. See its log for the reason.');

export const badGateway = (message: string): Problem => problemOf('bad_gateway', 'The upstream failed', message);

export const gatewayTimeout = (message: string): Problem =>
  problemOf('gateway_timeout', 'The upstream did not answer', message);

export const loopDetected = (hops: number, url: string): Problem =>
  problemOf(
    'loop_detected',
    'Forwarding loop',
    `The request has passed through this Vivarium ${hops} times: the target ${url} leads back to a hostname that is served here. Point it at your own server.`,
  );

/** The project's target is an address of this Vivarium itself. */
export const targetIsThisVivarium = (asked: string): Problem =>
  problemOf(
    'loop_detected',
    'The target is this Vivarium',
    `The project’s target, ${asked}, is an address of this Vivarium itself and not a served hostname. Point it at your own server.`,
  );

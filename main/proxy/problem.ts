import { isIP } from 'node:net';
import type { Scheme } from '../base/hostname.ts';
import { problemOf, type Problem } from '../model/problem.ts';
import type { RequestTargetFault } from './request-target.ts';

/** A request that cannot be trusted to mean one thing; the connection is closed after the answer. */
const malformed = (heading: string, message: string): Problem =>
  problemOf('invalid_request', heading, message, { close: true });

export const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export const plainHttpOnTls = (secureUrl: string): Problem =>
  malformed('This port speaks HTTPS', `A plain HTTP request came to the HTTPS port. Use ${secureUrl} instead.`);

export const missingHost = (httpVersion: string): Problem =>
  httpVersion === '1.0'
    ? malformed(
        'No Host',
        'An HTTP/1.0 request without a Host header field does not say which hostname it is for. Send Host.',
      )
    : malformed('No Host', 'The request has no Host header field. Send exactly one (RFC 9112 §3.2).');

export const severalHosts = (): Problem =>
  malformed('More than one Host', 'The request has more than one Host header field. Send exactly one (RFC 9112 §3.2).');

export const conflictingHost = (): Problem =>
  malformed(
    'Two hosts',
    'The :authority and the Host header field of the request differ. Send one of them, or both the same.',
  );

export const unreadableAuthority = (): Problem =>
  malformed(
    'Unreadable Host',
    'The host of the request is not of the form hostname or hostname:port. Correct the Host header field or the URL.',
  );

export const unsupportedVersion = (version: string): Problem =>
  malformed(
    'Unsupported HTTP version',
    `HTTP/${version} is not spoken on this connection. Use HTTP/1.1, or HTTP/2 by ALPN over HTTPS.`,
  );

export const uncertainFraming = (fault: string): Problem =>
  malformed(
    'Unclear where the request ends',
    `${fault} Send Content-Length, or Transfer-Encoding: chunked over HTTP/1.1.`,
  );

const TARGET_FAULTS: Record<RequestTargetFault, string> = {
  bad_character: 'The request target has a character that is not visible ASCII. Percent-encode it.',
  fragment: 'The request target has a fragment (#…), which is the client’s own business. Leave it out, or send %23.',
  backslash: 'The request target has a backslash. Send a slash, or %5C.',
  bad_scheme: 'The scheme of the request target is neither http nor https.',
  not_a_target: 'The request target is not a path that begins with a slash, nor an http or https URL.',
};

export const unreadableTarget = (fault: RequestTargetFault): Problem =>
  malformed('Unreadable request target', TARGET_FAULTS[fault]);

export const wrongScheme = (asked: string, spoken: Scheme): Problem =>
  problemOf(
    'misdirected_request',
    'Another scheme was asked for',
    `The request is for an ${asked} URL, and this connection is ${spoken}. Ask over ${asked}.`,
  );

export const misdirected = (serverName: string, asked: string): Problem =>
  problemOf(
    'misdirected_request',
    'A connection for another hostname',
    `This TLS connection was made for ${serverName}, and the request is for ${asked}. Open a connection with ${asked} as its server name.`,
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

/** What never is a project's hostname, whatever is attached: addresses, and the machine's own name. */
const isMachineName = (host: string): boolean => host === 'localhost' || host.startsWith('[') || isIP(host) !== 0;

/** `reason`: why a hostname that is attached is not served. */
export const notServed = (asked: string, host: string, reason: string | null): Problem =>
  problemOf(
    'not_found',
    `Nothing is served at ${asked}`,
    isMachineName(host)
      ? `Projects are found by their hostname, and ${host} is nobody’s. Use a hostname that is served.`
      : (reason ?? `No project has the hostname ${host}. Attach it to a project, or use one that is served.`),
    { listServed: true },
  );

export const connectRefused = (): Problem =>
  problemOf(
    'method_not_allowed',
    'Not a tunnel',
    'CONNECT is served on the HTTP port only, and not inside a tunnel. Send the request to the hostname itself.',
    {
      close: true,
      headers: ['Allow', ALLOWED_METHODS],
    },
  );

/** A request to a proxy, for what this one does not lead to. */
const proxyRefusal = (heading: string, message: string, more: Partial<Pick<Problem, 'listServed'>> = {}): Problem =>
  problemOf('forbidden', heading, message, more);

export const notReached = (asked: string, host: string): Problem =>
  proxyRefusal(
    `This proxy does not lead to ${asked}`,
    isMachineName(host)
      ? `It leads to hostnames that are served here, never to an address: use a hostname, or no proxy for ${host}.`
      : `It leads only to hostnames that are served here, and ${host} is none. Attach it to a project, or use no proxy for it, as the PAC file does.`,
    { listServed: true },
  );

export const portNotReached = (host: string, port: number, ports: Readonly<Record<Scheme, number>>): Problem =>
  proxyRefusal(
    `This proxy does not lead to port ${port}`,
    `Of ${host} it leads to ports 443 and ${ports.https} (HTTPS), 80 and ${ports.http} (HTTP), which are this Vivarium’s listeners. Use one of them, or no proxy for port ${port}.`,
  );

export const urlPortNotReached = (host: string, port: number | null, own: readonly number[]): Problem =>
  proxyRefusal(
    `This proxy does not lead to port ${port}`,
    `Of ${host} it leads to port ${own.join(' and ')} here. Use one of them, or no proxy for port ${port}.`,
  );

export const unreadableConnect = (): Problem =>
  malformed(
    'Unreadable CONNECT',
    'The target of CONNECT is not of the form hostname:port. Send a hostname and a port, and nothing else.',
  );

export const conflictingConnect = (): Problem =>
  malformed(
    'Two hosts',
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
    'Requests before this CONNECT were not answered yet. Read their answers first, or open a connection for it.',
  );

export const stoppingNow = (): Problem =>
  problemOf('unavailable', 'Vivarium is stopping', 'Vivarium is stopping and opens no more tunnels.', { close: true });

export const tooManyPipelined = (max: number): Problem =>
  problemOf(
    'unavailable',
    'Too many requests at once',
    `More than ${max} requests of this connection wait for an answer. Read the answers first.`,
    {
      close: true,
    },
  );

export const failed = (): Problem =>
  problemOf(
    'internal_error',
    'Vivarium failed',
    'Vivarium failed while it answered this request; its log has the reason.',
  );

export const badGateway = (message: string): Problem => problemOf('bad_gateway', 'The upstream failed', message);

export const gatewayTimeout = (message: string): Problem =>
  problemOf('gateway_timeout', 'The upstream did not answer', message);

export const loopDetected = (hops: number, url: string): Problem =>
  problemOf(
    'loop_detected',
    'The request goes in circles',
    `It has passed through this Vivarium ${hops} times: the target ${url} leads back to a hostname that is served here. Point it at your own server.`,
  );

/** What a project's target that is this Vivarium's own address comes to. */
export const targetIsThisVivarium = (asked: string): Problem =>
  problemOf(
    'loop_detected',
    'The target leads here',
    `The target that this request was passed on to, ${asked}, is this Vivarium itself, and no hostname that is served here. Point it at your own server.`,
  );

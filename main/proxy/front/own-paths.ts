import type { IncomingHttpHeaders } from 'node:http2';
import type { Readable } from 'node:stream';
import { OWN_HOSTS, PLATFORM_ZONE } from '../../base/config.ts';
import type { Scheme } from '../../base/text/hostname.ts';
import { type Answer, bodyOf } from '../../base/http/answer.ts';

/** A request for one of Vivarium's own paths, over either version of HTTP. */
export interface OwnRequest {
  method: string;
  /** Path and query. */
  target: string;
  scheme: Scheme;
  /** Including the pseudo-header fields of HTTP/2. */
  headers: IncomingHttpHeaders;
  /** The client's: that of the connection, or the one reported by a trusted proxy. */
  address: string;
  /** Yields the body, which has not been read yet. */
  body: Readable;
}

/** Answers a request for one path, exactly once, now or later. Must not throw. */
export type OwnPath = (request: OwnRequest, answer: (answer: Answer) => void) => void;

/** The paths that Vivarium answers at its own hosts, before any route; `/acme/` is every path below it. */
export type OwnPaths = ReadonlyMap<string, OwnPath>;

/** The paths and hosts that Vivarium itself answers at the listeners of one place: loopback, or an interface. */
export interface OwnPlace {
  /** Hosts as in a URL. */
  hosts: ReadonlySet<string>;
  /** Hosts that TLS clients may request although no project has them. */
  serverNames: ReadonlySet<string>;
  paths: OwnPaths;
  /** Hosts at which Vivarium answers every path. */
  sites: ReadonlyMap<string, OwnPath>;
  /** The only hostnames of projects that are served there, and no error lists them; all of them if omitted. */
  serves?: (hostname: string) => boolean;
}

export const loopbackPlace = (paths: OwnPaths, sites: OwnPlace['sites'] = new Map()): OwnPlace => ({
  hosts: OWN_HOSTS,
  serverNames: new Set(['localhost', PLATFORM_ZONE, ...sites.keys()]),
  paths,
  sites,
});

/** The own path for a request target at a host; undefined if a project has to answer. */
export function ownPathOf({ hosts, paths, sites }: OwnPlace, host: string, target: string): OwnPath | undefined {
  return hosts.has(host) ? find(paths, target) : sites.get(host);
}

/** The own path for a request, by its header section alone. An absolute URL matches no path. */
export function ownPathAsked(
  { hosts, paths }: OwnPlace,
  target: string,
  headers: IncomingHttpHeaders,
): OwnPath | undefined {
  // The path is checked first, because every request of every project comes through here.
  const own = find(paths, target);
  const authority = headers[':authority'] ?? headers.host;
  return own !== undefined && authority !== undefined && hosts.has(hostOf(authority)) ? own : undefined;
}

function find(paths: OwnPaths, target: string): OwnPath | undefined {
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  return paths.get(path) ?? paths.get(path.slice(0, path.indexOf('/', 1) + 1));
}

/** The host of an authority in the form of a URL: with brackets around an IPv6 address, without its port. */
const hostOf = (authority: string): string => authority.toLowerCase().replace(/:\d*$/, '');

/** A public file, read by GET. */
export const ownFile =
  (file: { contentType: string; read: () => Buffer; headers?: readonly string[] }): OwnPath =>
  ({ method }, answer) => {
    if (method === 'GET' || method === 'HEAD') answer(octetsAnswer(200, file.contentType, file.read(), file.headers));
    else answer(refusal(405, 'Read this file with GET.', ['Allow', 'GET, HEAD']));
  };

export function octetsAnswer(status: number, type: string, octets: Buffer, headers: readonly string[] = []): Answer {
  const body = { text: octets.toString('latin1'), encoding: 'latin1' as const, length: String(octets.length) };
  return withBody(status, type, body, headers);
}

/** Refuses a request with one sentence. */
export const refusal = (status: number, sentence: string, headers: readonly string[] = []): Answer =>
  withBody(status, 'text/plain; charset=utf-8', bodyOf(`${sentence}\n`), headers);

const withBody = (
  status: number,
  type: string,
  body: NonNullable<Answer['body']>,
  headers: readonly string[],
): Answer => ({
  status,
  body,
  headers: ['Content-Type', type, 'Content-Length', body.length, 'X-Content-Type-Options', 'nosniff', ...headers],
  close: false,
});

/** Passes on the body, once; of a body that is too large, only enough to show it. */
export function readBody(source: Readable, octetsMax: number, onBody: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let octets = 0;
  const done = (): void => {
    // The stream outlives the answer, and would keep the body alive until then.
    source.off('data', onData).off('end', done);
    const [only] = chunks;
    onBody(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks));
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    octets += chunk.length;
    if (octets > octetsMax) done();
  };
  source.on('data', onData).on('end', done);
}

import type { IncomingHttpHeaders } from 'node:http2';
import type { Readable } from 'node:stream';
import { PLATFORM_ZONE } from '../base/config.ts';
import type { Scheme } from '../base/hostname.ts';
import { type Answer, bodyOf } from '../base/http/answer.ts';

/** The hosts of Vivarium itself on loopback, as in a URL. No project can have one of them. */
const OWN_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', PLATFORM_ZONE]);

/** A request for what Vivarium answers itself, over either version of HTTP. */
export interface OwnRequest {
  method: string;
  /** Path and query. */
  target: string;
  scheme: Scheme;
  /** With the pseudo-header fields of HTTP/2. */
  headers: IncomingHttpHeaders;
  /** The client's: the connection's, or what a trusted proxy says of it. */
  address: string;
  /** Yields the body, of which nothing has been read. */
  body: Readable;
}

/** Answers a request for one path, once, now or later. Must not throw. */
export type OwnPath = (request: OwnRequest, answer: (answer: Answer) => void) => void;

/** What Vivarium answers at its own hosts, before any route, by path; `/acme/` is every path below it. */
export type OwnPaths = ReadonlyMap<string, OwnPath>;

/** What Vivarium answers at the listeners of one place: on loopback, or on an interface. */
export interface OwnPlace {
  /** Hosts as in a URL. */
  hosts: ReadonlySet<string>;
  /** Those that TLS clients may ask for, though no project has them. */
  serverNames: ReadonlySet<string>;
  paths: OwnPaths;
  /** Hosts at which Vivarium answers every path. */
  sites: ReadonlyMap<string, OwnPath>;
}

/** The place on loopback. */
export const loopbackPlace = (paths: OwnPaths, sites: OwnPlace['sites'] = new Map()): OwnPlace => ({
  hosts: OWN_HOSTS,
  serverNames: new Set(['localhost', ...sites.keys()]),
  paths,
  sites,
});

/** What answers a request target at a host; undefined if that is a project's matter, as all others are. */
export function ownPathOf({ hosts, paths, sites }: OwnPlace, host: string, target: string): OwnPath | undefined {
  return hosts.has(host) ? find(paths, target) : sites.get(host);
}

/** What answers a request, by its header section alone. An absolute URL counts as none of the paths. */
export function ownPathAsked(
  { hosts, paths }: OwnPlace,
  target: string,
  headers: IncomingHttpHeaders,
): OwnPath | undefined {
  // The path first: every request of every project is looked up here.
  const own = find(paths, target);
  const authority = headers[':authority'] ?? headers.host;
  return own !== undefined && authority !== undefined && hosts.has(hostOf(authority)) ? own : undefined;
}

function find(paths: OwnPaths, target: string): OwnPath | undefined {
  const queryAt = target.indexOf('?');
  const path = queryAt === -1 ? target : target.slice(0, queryAt);
  return paths.get(path) ?? paths.get(path.slice(0, path.indexOf('/', 1) + 1));
}

/** The host of an authority as in a URL: with brackets around an IPv6 address, without its port. */
const hostOf = (authority: string): string => authority.toLowerCase().replace(/:\d*$/, '');

/** A file for everybody who asks, by GET. */
export const ownFile =
  (file: { contentType: string; read: () => Buffer; headers?: readonly string[] }): OwnPath =>
  ({ method }, answer) => {
    if (method === 'GET' || method === 'HEAD') answer(octetsAnswer(200, file.contentType, file.read(), file.headers));
    else answer(refusal(405, 'This file is read with GET.', ['Allow', 'GET, HEAD']));
  };

export function octetsAnswer(status: number, type: string, octets: Buffer, headers: readonly string[] = []): Answer {
  const body = { text: octets.toString('latin1'), encoding: 'latin1' as const, length: String(octets.length) };
  return withBody(status, type, body, headers);
}

/** Says in a sentence why a request is refused. */
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

/** Hands over the body, once; of one that is too large, no more than shows it. */
export function readBody(source: Readable, octetsMax: number, onBody: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let octets = 0;
  const done = (): void => {
    // The stream outlives the answer, and would keep the body for so long.
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

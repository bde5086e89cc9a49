import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { type Socket, BlockList, connect, isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type SecureContext, connect as tlsConnect, createSecureContext, getCACertificates } from 'node:tls';
import { bodyUpTo, responseTo } from '../../base/http/message.ts';
import { DEFAULT_PORT, isWithin } from '../../base/text/hostname.ts';
import type { UpstreamDestination } from '../../model/route.ts';
import { type UpstreamDiagnosis, codeOf, describeUpstreamFault } from './upstream-problem.ts';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves `localhost` and names below it to this machine (RFC 6761 §6.3), at both addresses, even if the system's
 * resolver knows only one or none. For `localhost` itself, the system's order of addresses applies.
 */
export function lookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (!isWithin(name, 'localhost')) {
    systemLookup(hostname, options, callback);
    return;
  }
  if (options.all !== true) {
    process.nextTick(callback, null, '127.0.0.1', 4);
    return;
  }
  if (name !== 'localhost') {
    process.nextTick(callback, null, [...LOOPBACK]);
    return;
  }
  systemLookup(hostname, { ...options, all: true }, (_error, found: LookupAddress[] | undefined) => {
    const first = found ?? [];
    const known = new Set(first.map(({ address }) => address));
    callback(null, [...first, ...LOOPBACK.filter(({ address }) => !known.has(address))]);
  });
}

/** The addresses that mean this machine everywhere, also as IPv4-mapped ones. */
const THIS_MACHINE = new BlockList();
THIS_MACHINE.addSubnet('127.0.0.0', 8);
for (const address of ['0.0.0.0', '::', '::1']) THIS_MACHINE.addAddress(address, isIPv6(address) ? 'ipv6' : 'ipv4');

function addressOf(url: string): { host: string; port: number; secure: boolean } {
  const { hostname, port, protocol } = new URL(url);
  const secure = protocol === 'https:';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? DEFAULT_PORT[secure ? 'https' : 'http'] : Number(port),
    secure,
  };
}

/** Whether requests to `url` would reach this machine at that port, by any address or name of it. */
export async function leadsToOwnPort(url: string, ownPort: number): Promise<boolean> {
  const { host, port } = addressOf(url);
  if (port !== ownPort) return false;
  const own = new Set(Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address)));
  return new Promise((resolve) => {
    lookup(host, { all: true }, (error, found) => {
      const addresses = error === null && Array.isArray(found) ? found : [];
      resolve(
        addresses.some(
          ({ address, family }) => THIS_MACHINE.check(address, family === 6 ? 'ipv6' : 'ipv4') || own.has(address),
        ),
      );
    });
  });
}

/**
 * Connects to an upstream with the same name resolution and certificate checks as requests, then disconnects without
 * sending one. Resolves with null on success, else with the reason and a remedy. Takes up to `waitMs` of real time.
 */
export function dialUpstream(
  { url, verifyCertificate }: Pick<UpstreamDestination, 'url' | 'verifyCertificate'>,
  waitMs: number,
): Promise<UpstreamDiagnosis | null> {
  const { host, port, secure } = addressOf(url);
  const address = {
    ...{ host, port, lookup },
    // A busy engine exceeds Node's default of a quarter of a second, which hides that an address refused.
    autoSelectFamilyAttemptTimeout: waitMs / 2,
  };
  return new Promise((resolve) => {
    const settle = (socket: Socket, trouble: UpstreamDiagnosis | null): void => {
      socket.destroy();
      resolve(trouble);
    };
    const fail = (socket: Socket, code: string, message = ''): void =>
      settle(socket, describeUpstreamFault(url, { code, message, timedOut: false }, waitMs));
    const socket: Socket = secure
      ? tlsConnect({
          ...address,
          // RFC 6066 §3: addresses are not allowed as server names.
          servername: isIP(host) === 0 ? host : '',
          rejectUnauthorized: verifyCertificate,
          ...(verifyCertificate && { secureContext: machineTrust() }),
        })
      : connect(address);
    let accepted = false;
    socket.setTimeout(waitMs);
    socket.once('connect', () => (accepted = true));
    socket.once(secure ? 'secureConnect' : 'connect', () => settle(socket, null));
    // Input that arrived while the engine was busy is read first. A server that accepts the connection but never starts
    // TLS is probably waiting for plain HTTP.
    socket.once('timeout', () => setImmediate(() => fail(socket, accepted ? 'EPROTO' : 'ETIMEDOUT')));
    socket.on('error', (error) =>
      fail(socket, accepted && codeOf(error) === 'ECONNRESET' ? 'EPROTO' : codeOf(error), error.message),
    );
  });
}

let context: SecureContext | undefined;

/**
 * The trusted CAs for upstreams: Node's, including NODE_EXTRA_CA_CERTS, and the system's, which include developer CAs
 * (mkcert). Reading the system's takes a tenth of a second, so it is done once, on first use.
 */
export function machineTrust(): SecureContext {
  context ??= createSecureContext({
    ca: [...new Set([...getCACertificates('default'), ...getCACertificates('system')])],
  });
  return context;
}

/** Where many frameworks serve their OpenAPI document. */
const DOCUMENT_PATH = '/openapi.json';

const DOCUMENT_BYTES_MAX = 1024 * 1024;
const DOCUMENT_MS_MAX = 10_000;

/**
 * Reads the OpenAPI document of an upstream, without examining its text. The request bypasses the listeners, because
 * no client sent it: it is neither counted nor recorded. `authority` is the requested host and port, for upstreams that
 * keep it; `pseudonym` lets this Vivarium recognise its own request if it comes back. Null without an answer 200 in
 * time.
 */
export async function readUpstreamDocument(
  { url, host, verifyCertificate }: UpstreamDestination,
  { authority, pseudonym, signal }: { authority: string; pseudonym: string; signal?: AbortSignal | undefined },
): Promise<Buffer | null> {
  const target = new URL(url);
  target.pathname = target.pathname.replace(/\/$/, '') + DOCUMENT_PATH;
  const secure = target.protocol === 'https:';
  const timeout = AbortSignal.timeout(DOCUMENT_MS_MAX);
  const asking = (secure ? httpsRequest : httpRequest)(target, {
    lookup,
    agent: false,
    headers: {
      Accept: 'application/json',
      'User-Agent': 'vivarium-reference',
      Via: `1.1 ${pseudonym}`,
      ...(host === 'keep' && { Host: authority }),
    },
    rejectUnauthorized: verifyCertificate,
    ...(secure && verifyCertificate && { secureContext: machineTrust() }),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  try {
    const response = await responseTo(asking.end());
    const body = response.statusCode === 200 ? await bodyUpTo(DOCUMENT_BYTES_MAX, response) : null;
    return body === null || body.length > DOCUMENT_BYTES_MAX ? null : body;
  } catch {
    return null;
  } finally {
    asking.destroy();
  }
}

import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as sendRequest,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { reasonOf } from '../base/error-code.ts';
import { DEFAULT_PORT, parseAuthority, type Scheme } from '../base/text/hostname.ts';
import { endToEndFields, pairsOf } from '../base/http/message.ts';
import { hashSecret, randomBase62 } from '../base/secret.ts';
import { basic, createWays, type Place, type WaysOptions } from './ways.ts';

const USER = 'vivarium';
const CONNECTIONS_MAX = 1_024;
const HEAD_BYTES_MAX = 128 * 1_024;
const IDLE_MS_MAX = 60_000;

export interface ProxyOptions extends WaysOptions {
  /** A browser was refused: they do not send the token of a proxy's URL. */
  onBrowser?: () => void;
}

/**
 * A forward proxy on loopback for the programs that this process starts. It needs the token of its URL, and records
 * nothing.
 */
export async function openChildrenProxy(options: ProxyOptions) {
  const ways = createWays(options);
  const token = randomBase62(43);
  const expected = digest(basic(`${USER}:${token}`));
  function isAllowed({ headers }: IncomingMessage): boolean {
    const given = headers['proxy-authorization'];
    if (given === undefined && headers['user-agent']?.startsWith('Mozilla/') === true) options.onBrowser?.();
    return timingSafeEqual(digest(given ?? ''), expected);
  }
  const clients = new Set<Socket>();
  const server = createServer({
    maxHeaderSize: HEAD_BYTES_MAX,
    // A body may take as long as it does without this proxy.
    requestTimeout: 0,
    keepAliveTimeout: IDLE_MS_MAX,
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('connection', (socket) => {
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
  });
  server.on('request', (request, response) => {
    if (isAllowed(request)) void forward(request, response);
    else response.writeHead(407, CHALLENGE).end(UNAUTHORISED);
  });
  server.on('connect', (request, client: Socket, head) => {
    client.on('error', () => undefined);
    if (isAllowed(request)) void tunnel(request.url ?? '', client, head);
    else refuse(client, 407, UNAUTHORISED);
  });

  const refusals = new Set<{ host: string; count: number; struck: number }>();
  const isRefused = ({ host }: Place): boolean => {
    const found = [...refusals].find((each) => each.host === host && each.struck < each.count);
    if (found !== undefined) found.struck++;
    return found !== undefined;
  };

  async function tunnel(authority: string, client: Socket, head: Buffer): Promise<void> {
    const place = placeOf(authority);
    if (place === null) return refuse(client, 400, `${authority} is not of the form hostname:port.\n`);
    if (isRefused(place)) return refuse(client, 502, unreachable(authority, ON_PURPOSE));
    try {
      const { socket } = await ways.open(place, true);
      if (client.destroyed) return void socket.destroy();
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) client.unshift(head);
      pass(client, socket);
      pass(socket, client);
    } catch (error) {
      refuse(client, 502, unreachable(authority, error));
    }
  }

  /** A request in absolute form; for `https:` too, which some clients ask of a proxy instead of a tunnel. */
  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, scheme = '', authority = '', path = ''] = /^(https?):\/\/([^/?#]*)(.*)$/i.exec(request.url ?? '') ?? [];
    const isSecure = scheme.toLowerCase() === 'https';
    const place = placeOf(authority, isSecure ? 'https' : 'http');
    if (place === null) {
      response.writeHead(400, TEXT).end('This is a forward proxy: it takes URLs and CONNECT.\n');
      return;
    }
    if (isRefused(place)) return void response.writeHead(502, TEXT).end(unreachable(authority, ON_PURPOSE));
    const fail = (error: unknown): void => {
      if (response.destroyed) return;
      if (!response.headersSent) response.writeHead(502, TEXT).end(unreachable(authority, error));
      // A server may answer, and close, before it has read the whole request.
      else if (!response.writableEnded) response.destroy();
    };
    try {
      const { socket, proxy } = await ways.open(place, isSecure);
      if (response.destroyed) return void socket.destroy();
      response.once('close', () => socket.destroy());
      const way = isSecure ? await ways.secure(socket, place.host) : socket;
      const { connection, 'transfer-encoding': coding } = request.headers;
      const kept = endToEndFields(request.rawHeaders, connection, HOST);
      const fields = ['Host', authority, ...kept, 'Connection', 'close'];
      if (coding !== undefined) fields.push('Transfer-Encoding', coding);
      if (proxy !== null && proxy !== '') fields.push('Proxy-Authorization', proxy);
      const outgoing = sendRequest({
        method: request.method,
        path: proxy === null ? `${path.startsWith('/') ? '' : '/'}${path}` : request.url,
        headers: fields,
        maxHeaderSize: HEAD_BYTES_MAX,
        createConnection: () => way,
      });
      outgoing.once('error', fail);
      outgoing.once('response', (incoming) => sendBack(incoming, response));
      request.pipe(outgoing);
    } catch (error) {
      fail(error);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** With its token. */
    url: `http://${USER}:${token}@127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Refuses the next connections to a hostname, as it does when the name does not resolve; says how many it refused. */
    refuse(host: string, count: number) {
      const refusal = { host, count, struck: 0 };
      refusals.add(refusal);
      return { struck: () => refusal.struck, stop: () => void refusals.delete(refusal) };
    },
    /** Cuts all of its connections. */
    async close(): Promise<void> {
      if (!server.listening) return;
      server.close();
      ways.close();
      for (const client of clients) client.destroy();
      await once(server, 'close');
    },
  };
}

/** Comes from the URL (RFC 9112 §3.2.2). */
const HOST: ReadonlySet<string> = new Set(['host']);

const TEXT = { 'content-type': 'text/plain; charset=utf-8' };
const CHALLENGE = { ...TEXT, 'proxy-authenticate': 'Basic realm="Vivarium"' };
const UNAUTHORISED = 'This proxy is for the programs that one Vivarium command has started.\n';

const digest = (text: string): Buffer => Buffer.from(hashSecret(text), 'hex');

const ON_PURPOSE = new Error('the name does not resolve (SERVFAIL), broken on purpose');

const unreachable = (authority: string, error: unknown): string =>
  `Vivarium's proxy for this program cannot reach ${authority}: ${reasonOf(error)}.\n`;

/** Without a port, that of the scheme. After CONNECT, only the port says whether it is HTTP. */
function placeOf(text: string, scheme?: Scheme): Place | null {
  const authority = parseAuthority(text);
  const port = authority?.port ?? (scheme === undefined ? null : DEFAULT_PORT[scheme]);
  if (authority === null || port === null) return null;
  const host = authority.host.replace(/[[\]]/g, '');
  return { scheme: scheme ?? (port === DEFAULT_PORT.http ? 'http' : 'https'), host, port };
}

function refuse(client: Socket, status: number, message: string): void {
  const fields = Object.entries(status === 407 ? CHALLENGE : TEXT).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}connection: close\r\n`;
  client.resume().end(`${head}content-length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
}

/** Passes on what one side sends: its end as an end, and its failure as a reset, which no reader takes for the end. */
function pass(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => undefined);
  from.once('close', () => {
    if (from.errored === null && from.readableEnded) return;
    // Node resets no TLS connection; without its end, that is a failure as well.
    if (to instanceof TLSSocket) to.destroy();
    else to.resetAndDestroy();
  });
}

function sendBack(incoming: IncomingMessage, response: ServerResponse): void {
  response.sendDate = false;
  const fields = endToEndFields(incoming.rawHeaders, incoming.headers.connection);
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, fields).flushHeaders();
  incoming.once('end', () => response.addTrailers(pairsOf(incoming.rawTrailers)));
  incoming.once('error', () => response.destroy());
  incoming.pipe(response);
}

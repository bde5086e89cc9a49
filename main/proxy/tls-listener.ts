import { createServer, type Server, type Socket } from 'node:net';
import { TLSSocket, type SecureContext } from 'node:tls';
import type { Log } from '../base/log.ts';
import { CLIENT_HELLO_BYTES_MAX, readClientHello } from './client-hello.ts';
import { destroyConnection, type Connection, type Listener } from './connection.ts';
import type { Connections } from './connections.ts';
import type { Http2Acceptor } from './http2.ts';

export interface TlsListenerOptions {
  connections: Connections;
  listener: Listener;
  log: Log;
  /** The certificate for a hostname; null, or an error thrown, when there is none to show. Expected to be cached. */
  contextFor: (hostname: string) => SecureContext | null;
  /** Whose certificate is shown to clients that name no server. */
  defaultHostname: string;
  /** Whether anything is served for `hostname`. */
  knows: (hostname: string) => boolean;
  serveHttp1: (connection: Connection, socket: Socket) => void;
  serveHttp2: Http2Acceptor;
}

/** Fatal alerts (RFC 8446 §6): content type 21, version, length 2, level 2, description. */
const alert = (description: number): Buffer => Buffer.from([21, 3, 3, 0, 2, 2, description]);
const ALERT_DECODE_ERROR = alert(50);
const ALERT_INTERNAL_ERROR = alert(80);
/** RFC 6066 §3. An error from Node's SNICallback would only reset the connection. */
const ALERT_UNRECOGNIZED_NAME = alert(112);

/**
 * Accepts the connections of the HTTPS port. The first bytes are read here: they tell plain HTTP from TLS, and which
 * hostname is wanted, so that an unknown one is refused in TLS's own words before any handshake.
 */
export function createTlsServer(options: TlsListenerOptions): Server {
  // Half-open sockets would stay, unseen, when a client ends TCP without a word of TLS.
  return createServer({ noDelay: true, allowHalfOpen: false }, (raw) => {
    const connection = options.connections.open(raw, options.listener);
    if (connection === null) return;
    raw.on('error', (error) => options.log.debug('A client connection failed', { error }));
    serveTls(connection, options);
  });
}

/** Speaks TLS, from its first bytes on, with a connection that was accepted here or has come by CONNECT. */
export function serveTls(connection: Connection, options: TlsListenerOptions): void {
  const { raw } = connection;
  let received: Buffer = Buffer.alloc(0);
  const onEnd = (): void => destroyConnection(connection);
  const onData = (chunk: Buffer): void => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const hello = readClientHello(received);
    if (hello.kind === 'incomplete' && received.length < CLIENT_HELLO_BYTES_MAX) return;
    raw.removeListener('data', onData);
    raw.removeListener('end', onEnd);
    raw.pause();
    if (hello.kind === 'not_tls') {
      raw.unshift(received);
      connection.plainHttpOnTls = true;
      options.serveHttp1(connection, raw);
      raw.resume();
    } else if (hello.kind === 'hello') {
      raw.unshift(received);
      secure(connection, hello.serverName, options);
    } else {
      refuse(connection, hello.kind === 'unusable_name' ? ALERT_UNRECOGNIZED_NAME : ALERT_DECODE_ERROR);
    }
  };
  raw.on('data', onData);
  raw.on('end', onEnd);
}

function secure(connection: Connection, serverName: string | null, options: TlsListenerOptions): void {
  const { log, defaultHostname } = options;
  const hostname = serverName ?? defaultHostname;
  if (hostname !== defaultHostname && !options.knows(hostname)) {
    log.debug('A TLS client asked for a hostname that is not served', { hostname });
    refuse(connection, ALERT_UNRECOGNIZED_NAME);
    return;
  }
  let secureContext: SecureContext | null;
  try {
    secureContext = options.contextFor(hostname);
  } catch (error) {
    log.error('No certificate could be made for a hostname', { hostname, error });
    refuse(connection, ALERT_INTERNAL_ERROR);
    return;
  }
  if (secureContext === null) {
    log.debug('A TLS client asked for a hostname that has no certificate', { hostname });
    refuse(connection, ALERT_UNRECOGNIZED_NAME);
    return;
  }
  connection.serverName = hostname;
  handshake(connection, secureContext, options);
}

/**
 * Gives the socket to OpenSSL, with the certificate already chosen. `tls.Server` cannot be used, because it never asks
 * for the context of a client that names no server, and does not say which raw socket became which secure one. What it
 * does around a `TLSSocket` is done here: it listens to `secure` and `_tlsError`, and clears `secureConnecting`.
 */
function handshake(connection: Connection, secureContext: SecureContext, options: TlsListenerOptions): void {
  const { log } = options;
  const socket: TLSSocket & { secureConnecting?: boolean } = new TLSSocket(connection.raw, {
    isServer: true,
    secureContext,
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  socket.on('error', (error) => log.debug('A TLS connection failed', { hostname: connection.serverName, error }));
  // After the handshake, an error of TLS itself shows up here alone.
  socket.on('_tlsError', () => socket.destroy());
  socket.on('close', () => connection.raw.destroy());
  socket.once('secure', () => {
    // An HTTP/2 session waits for as long as this is true.
    socket.secureConnecting = false;
    if (socket.alpnProtocol === 'h2') options.serveHttp2(connection, socket);
    else options.serveHttp1(connection, socket);
  });
}

/** Sends an alert and closes; what the client still sends is not read any more. */
function refuse(connection: Connection, bytes: Buffer): void {
  connection.phase = 'closing';
  connection.raw.write(bytes);
  connection.raw.destroySoon();
}

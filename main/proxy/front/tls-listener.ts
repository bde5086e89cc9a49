import { createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TLSSocket, type SecureContext } from 'node:tls';
import type { Log } from '../../base/log.ts';
import { type BrokenHandshake, type Fault, type FaultSource, nameOf } from '../../model/fault.ts';
import { CLIENT_HELLO_BYTES_MAX, readClientHello } from './client-hello.ts';
import { destroyConnection, resetConnection, type Connection, type Listener } from './connection.ts';
import type { Connections } from './connections.ts';
import type { Http2Acceptor } from './http2.ts';

export interface TlsListenerOptions {
  connections: Connections;
  listener: Listener;
  log: Log;
  /**
   * The certificate for a hostname, or for clients without SNI (null); null or a thrown error if there is none.
   * Expected to be cached.
   */
  contextFor: (hostname: string | null) => SecureContext | null;
  /** The hostname that clients without SNI reach. */
  defaultHostname: string;
  faults: FaultSource;
  /**
   * Replaces the usual handshake: at a hostname that is always broken, or for the fault of a running break; null for
   * neither. It may take a while if a key has to be generated. A thrown error is handled like one of
   * `contextFor`.
   */
  brokenFor: (
    hostname: string | null,
    fault: Pick<Fault, 'entry'> | null,
  ) => BrokenHandshake | Promise<BrokenHandshake> | null;
  serveHttp1: (connection: Connection, socket: Socket) => void;
  serveHttp2: Http2Acceptor;
}

/** Fatal alerts (RFC 8446 §6): content type 21, version, length 2, level 2, description. */
const alert = (description: number): Buffer => Buffer.from([21, 3, 3, 0, 2, 2, description]);
const ALERT_INTERNAL_ERROR = alert(80);
/** RFC 6066 §3. Node's SNICallback could only reset the connection. */
const ALERT_UNRECOGNIZED_NAME = alert(112);

/** For first bytes without a usable ClientHello; the same alerts as OpenSSL's. */
const ALERTS = {
  unexpected: alert(10),
  overflow: alert(22),
  malformed: alert(50),
  incomplete: alert(50),
  unusable_name: ALERT_UNRECOGNIZED_NAME,
} as const;

/**
 * Accepts connections on the HTTPS port. Reads the first bytes itself: they tell plain HTTP from TLS and name the
 * hostname, so unknown hostnames get a TLS alert before any handshake.
 */
export function createTlsServer(options: TlsListenerOptions): Server {
  // With half-open sockets, a client that ends TCP before sending TLS would leave its socket open.
  return createServer({ noDelay: true, allowHalfOpen: false }, (raw) => {
    const connection = options.connections.open(raw, options.listener);
    if (connection === null) return;
    raw.on('error', (error) => options.log.debug('A client connection failed', { error }));
    serveTls(connection, options);
  });
}

/** Starts TLS, from its first bytes, on a connection that was accepted here or came by CONNECT. */
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
      options.connections.refuse(connection, ALERTS[hello.kind]);
    }
  };
  raw.on('data', onData);
  raw.on('end', onEnd);
}

function secure(connection: Connection, serverName: string | null, options: TlsListenerOptions): void {
  const { log, defaultHostname } = options;
  const { own, table } = connection.listener;
  const hostname = serverName ?? defaultHostname;
  if (serverName !== null && !table().knows(serverName) && !own.serverNames.has(serverName)) {
    log.debug('A TLS client asked for a hostname that is not served', { hostname });
    options.connections.refuse(connection, ALERT_UNRECOGNIZED_NAME);
    return;
  }
  const fault = options.faults.handshake?.(serverName) ?? null;
  if (fault?.entry === 'connection.reset-on-accept') {
    resetConnection(connection);
    return;
  }
  const fail = (error: unknown): void => {
    log.error('No certificate could be created for a hostname', { hostname, error });
    options.connections.refuse(connection, ALERT_INTERNAL_ERROR);
  };
  connection.serverName = hostname;
  try {
    const broken = options.brokenFor(serverName, fault);
    if (fault !== null) {
      if (broken === null) options.faults.giveBack(fault);
      else connection.fault = nameOf(fault);
    }
    if (broken instanceof Promise) {
      waitFor(connection, broken, options).catch(fail);
      return;
    }
    if (broken !== null) {
      serveBroken(connection, broken, options);
      return;
    }
    const context = (connection.listener.contextFor ?? options.contextFor)(serverName);
    if (context !== null) {
      handshake(connection, { ...USUAL, context }, options);
      return;
    }
  } catch (error) {
    fail(error);
    return;
  }
  log.debug('A TLS client asked for a hostname that has no certificate', { hostname });
  options.connections.refuse(connection, ALERT_UNRECOGNIZED_NAME);
}

type Terms = Extract<BrokenHandshake, { kind: 'handshake' }>;

const USUAL = { kind: 'handshake', protocols: ['h2', 'http/1.1'], http2Only: false, clientCertificate: false } as const;

/** Waits while a key is generated, which takes longer than the time limit for a handshake. */
async function waitFor(
  connection: Connection,
  broken: Promise<BrokenHandshake>,
  options: TlsListenerOptions,
): Promise<void> {
  connection.phase = 'open';
  const found = await broken.finally(() => options.connections.reopen(connection));
  if (!connection.raw.destroyed) serveBroken(connection, found, options);
}

function serveBroken(connection: Connection, broken: BrokenHandshake, options: TlsListenerOptions): void {
  if (broken.kind === 'handshake') handshake(connection, broken, options);
  else if (broken.kind === 'unrecognized_name') options.connections.refuse(connection, ALERT_UNRECOGNIZED_NAME);
  // The sweep ends it, like a client that does not finish its handshake.
  else connection.raw.resume();
}

/**
 * Starts OpenSSL on the socket with the chosen certificate. `tls.Server` never asks for a context if the client sends
 * no SNI, and does not map raw sockets to secure ones. So this does what `tls.Server` does around a `TLSSocket`:
 * listens to `secure` and `_tlsError`, and clears `secureConnecting`.
 */
function handshake(connection: Connection, terms: Terms, options: TlsListenerOptions): void {
  const { log, connections } = options;
  const { raw } = connection;
  let secured = false;
  // A client without a certificate sends more after the refused message; every other refusal comes last.
  const transport = terms.clientCertificate
    ? lingeringTransport(raw, () => {
        if (secured) raw.destroy();
        else connections.refuse(connection, null);
      })
    : raw;
  const socket: TLSSocket & { secureConnecting?: boolean } = new TLSSocket(transport, {
    isServer: true,
    secureContext: terms.context,
    ...(terms.protocols !== null && { ALPNProtocols: [...terms.protocols] }),
    requestCert: terms.clientCertificate,
    rejectUnauthorized: terms.clientCertificate,
  });
  socket.on('error', (error) => log.debug('A TLS connection failed', { hostname: connection.serverName, error }));
  // After the handshake, only this event reports TLS errors.
  socket.on('_tlsError', () => socket.destroy());
  socket.on('close', () => transport.destroy());
  socket.once('secure', () => {
    secured = true;
    // An HTTP/2 session does not start while this is true.
    socket.secureConnecting = false;
    if (socket.alpnProtocol === 'h2' || terms.http2Only) options.serveHttp2(connection, socket);
    else options.serveHttp1(connection, socket);
  });
}

/**
 * Carries TLS over a socket that outlives it: after a refused handshake, Node immediately destroys the underlying
 * stream, with unread input, so the client would see a reset instead of the alert. `onDestroyed` then gets the socket,
 * without listeners for its data. Copies each chunk in JavaScript: for rare handshakes only.
 */
function lingeringTransport(raw: Socket, onDestroyed: () => void): Duplex {
  const onData = (chunk: Buffer): void => {
    if (!transport.push(chunk)) raw.pause();
  };
  const transport = new Duplex({
    read: () => void raw.resume(),
    write(chunk: Buffer, _encoding, done) {
      if (raw.write(chunk)) done();
      else raw.once('drain', () => done());
    },
    final: (done) => void raw.end(() => done()),
    destroy(_error, done) {
      raw.removeListener('data', onData);
      onDestroyed();
      done(null);
    },
  });
  raw.on('data', onData);
  raw.on('end', () => transport.push(null));
  raw.on('close', () => transport.destroy());
  return transport;
}

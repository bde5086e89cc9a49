import { X509Certificate } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { reasonOf } from './ports.ts';
import { messageOf } from '../base/error-code.ts';

export interface Handshake {
  ok: true;
  /** `TLSv1.3`. */
  protocol: string;
  /** Null when the chain ends at Vivarium's root, and all dates and usages are valid now, in real time. */
  distrust: string | null;
  /** Whether the certificate is for the hostname. */
  named: boolean;
  /** The leaf's SHA-256 fingerprint: `AB:CD:…`. */
  fingerprint: string;
  /** The end of the leaf's validity, in real time. */
  notAfterMs: number;
  /** The status of the answer to `OPTIONS *`, which reaches no project; null without an answer. */
  status: number | null;
}

export type HandshakeResult = Handshake | { ok: false; refusal: 'unrecognized_name' | null; reason: string };

/** Real milliseconds for a handshake and its request on this machine. */
const HANDSHAKE_MS_MAX = 3_000;

/** Enough for a status line. */
const STATUS_LINE_OCTETS = 12;

export interface HandshakeQuestion {
  address: string;
  port: number;
  hostname: string;
  /** The root's certificate, the only trusted one. */
  rootPem: string;
}

/** A client's TLS handshake with SNI, trusting only Vivarium's root, and one request on it. Never rejects. */
export function performHandshake(
  question: HandshakeQuestion,
  clock: Pick<Clock, 'realTimer'>,
): Promise<HandshakeResult> {
  const { address, port, hostname, rootPem } = question;
  return new Promise((resolve) => {
    const socket = connect({
      host: address,
      port,
      servername: hostname,
      ca: rootPem,
      ALPNProtocols: ['http/1.1'],
      // Faults of the chain are findings; this reports them instead of throwing.
      rejectUnauthorized: false,
    });
    let seen: Handshake | null = null;
    const settle = (result: HandshakeResult) => {
      timer.cancel();
      socket.destroy();
      resolve(result);
    };
    const timer = clock.realTimer(HANDSHAKE_MS_MAX, () =>
      settle(seen ?? { ok: false, refusal: null, reason: `no answer within ${HANDSHAKE_MS_MAX / 1_000} s` }),
    );
    socket.on('error', (error) => settle(seen ?? { ok: false, refusal: refusalOf(error), reason: reasonOf(error) }));
    socket.on('close', () => settle(seen ?? { ok: false, refusal: null, reason: 'it closed the connection' }));
    socket.on('secureConnect', () => {
      seen = read(socket, hostname);
      if (seen === null) return settle({ ok: false, refusal: null, reason: 'it presented no certificate' });
      socket.write(`OPTIONS * HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`);
    });
    let head = '';
    socket.on('data', (chunk: Buffer) => {
      head += chunk.toString('latin1');
      if (seen === null || head.length < STATUS_LINE_OCTETS) return;
      const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
      settle({ ...seen, status: status === undefined ? null : Number(status) });
    });
  });
}

function read(socket: TLSSocket, hostname: string): Handshake | null {
  const certificate = socket.getPeerX509Certificate();
  if (!(certificate instanceof X509Certificate)) return null;
  // Node's types say Error, but the value is an error code.
  const fault = socket.authorizationError as unknown;
  const named = certificate.checkHost(hostname, { subject: 'never' }) !== undefined;
  // The hostname is evaluated apart from the chain.
  const distrust = socket.authorized || fault === 'ERR_TLS_CERT_ALTNAME_INVALID' ? null : messageOf(fault);
  return {
    ok: true,
    protocol: socket.getProtocol() ?? '',
    distrust,
    named,
    fingerprint: certificate.fingerprint256,
    notAfterMs: certificate.validToDate.getTime(),
    status: null,
  };
}

/** The alert for an unknown name (RFC 6066 §3), in OpenSSL's words. */
const refusalOf = (error: Error): 'unrecognized_name' | null =>
  /unrecognized.name/i.test(`${'code' in error ? String(error.code) : ''} ${error.message}`)
    ? 'unrecognized_name'
    : null;

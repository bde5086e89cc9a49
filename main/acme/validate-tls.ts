import { hash } from 'node:crypto';
import { isIPv4, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { ipv4Octets, ipv6Groups } from '../model/address.ts';
import type { AcmeAttempt, AcmeIdentifier } from '../model/acme.ts';
import { dial, findDestinations, hostOf } from './destinations.ts';
import { type Answered, failed, type Outcome, reasonOf, type Task, VALIDATION_MS_MAX } from './outcome.ts';
import { AcmeError } from './problem.ts';

/** The protocol's name in ALPN (RFC 8737 §6.2). */
const PROTOCOL = 'acme-tls/1';

/** The parts of a certificate that answer a challenge (RFC 8737 §3). */
export interface ChallengeCertificate {
  /** Formatted as in `X509Certificate.subjectAltName`: `DNS:app.test`. */
  readonly names: string;
  /** The digest in the critical extension `acmeIdentifier`, in hexadecimal; null without such an extension. */
  readonly digest: string | null;
}

export interface TlsValidation {
  resolve(hostname: string): Promise<Answered>;
  port: number;
  readCertificate(der: Buffer): ChallengeCertificate;
}

/** tls-alpn-01 (RFC 8737, RFC 8738 §6). */
export async function validateTls({ identifier, keyAuthorization }: Task, options: TlsValidation): Promise<Outcome> {
  const attempts: AcmeAttempt[] = [];
  const destinations = await findDestinations(identifier, options.resolve, attempts);
  if (!destinations.ok) return failed(destinations.type, destinations.detail, attempts);
  const signal = AbortSignal.timeout(VALIDATION_MS_MAX);
  const digest = hash('sha256', keyAuthorization, 'hex');
  const wanted = identifier.type === 'ip' ? `IP Address:${longForm(identifier.value)}` : `DNS:${identifier.value}`;
  let last: AcmeError | null = null;
  for (const address of destinations.addresses) {
    const what = `TLS for ${identifier.value} at ${hostOf(address)}:${options.port}`;
    const fail = (type: 'connection' | 'tls' | 'unauthorized', found: string): void => {
      attempts.push({ what, found });
      last = new AcmeError(type, `${what}: ${found}.`);
    };
    const answer = await dial(address, options.port, signal)
      .then((socket) => handshake(socket, serverNameOf(identifier), signal))
      .catch((error: unknown): Handshake => ({ failure: reasonOf(error) }));
    if ('failure' in answer) {
      fail('connection', answer.failure);
      continue;
    }
    if (answer.protocol !== PROTOCOL) {
      fail('unauthorized', `the server does not speak ${PROTOCOL}`);
      continue;
    }
    const { names, digest: found } = options.readCertificate(answer.certificate);
    if (names !== wanted)
      fail('unauthorized', `the certificate is for ${names || 'no name'} instead of ${wanted} alone`);
    else if (found !== digest)
      fail('unauthorized', 'the acmeIdentifier of the certificate does not match the challenge');
    else {
      attempts.push({ what, found: 'the challenge’s certificate' });
      return { attempts, error: null };
    }
  }
  return { attempts, error: last };
}

type Handshake = { protocol: string | false | null; certificate: Buffer } | { failure: string };

function handshake(raw: Socket, servername: string, signal: AbortSignal): Promise<Handshake> {
  return new Promise((resolve) => {
    const socket = connect({
      ...{ socket: raw, servername, ALPNProtocols: [PROTOCOL] },
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    });
    const end = (result: Handshake): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(result);
    };
    const onAbort = (): void => end({ failure: 'no answer in time' });
    signal.addEventListener('abort', onAbort);
    socket.on('error', (error) => end({ failure: reasonOf(error) }));
    socket.on('close', () => end({ failure: 'the connection was closed' }));
    socket.on('secureConnect', () =>
      end({ protocol: socket.alpnProtocol, certificate: socket.getPeerCertificate().raw ?? Buffer.alloc(0) }),
    );
    if (signal.aborted) onAbort();
  });
}

/** The server name to send; for an address, its reverse-lookup name (RFC 8738 §6). */
function serverNameOf({ type, value }: AcmeIdentifier): string {
  if (type === 'dns') return value;
  if (isIPv4(value)) return `${ipv4Octets(value).reverse().join('.')}.in-addr.arpa`;
  const digits = ipv6Groups(value).map((group) => group.toString(16).padStart(4, '0'));
  return `${[...digits.join('')].reverse().join('.')}.ip6.arpa`;
}

/** Formats an address as `X509Certificate.subjectAltName` does: IPv6 in upper case, with all groups. */
const longForm = (address: string): string =>
  isIPv4(address)
    ? address
    : ipv6Groups(address)
        .map((group) => group.toString(16).toUpperCase())
        .join(':');

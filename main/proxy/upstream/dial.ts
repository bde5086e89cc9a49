import { connect, isIP, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { DEFAULT_PORT } from '../../base/http/origin.ts';
import type { UpstreamDestination } from '../../model/route.ts';
import { lookup } from './agents.ts';
import { machineTrust } from './authorities.ts';
import { codeOf, describeUpstreamFault, type UpstreamDiagnosis } from './upstream-problem.ts';

/**
 * Connects to an upstream as requests do, with the same idea of names and certificates, and hangs up: nothing is asked.
 * Null when it would take a request; else why not, with what to do. Takes `waitMs` of real time at most.
 */
export function dialUpstream(
  { url, verifyCertificate }: Pick<UpstreamDestination, 'url' | 'verifyCertificate'>,
  waitMs: number,
): Promise<UpstreamDiagnosis | null> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'https:';
  const place = { host, port: port === '' ? DEFAULT_PORT[secure ? 'https' : 'http'] : Number(port), lookup };
  return new Promise((resolve) => {
    const settle = (socket: Socket, trouble: UpstreamDiagnosis | null): void => {
      socket.destroy();
      resolve(trouble);
    };
    const fail = (socket: Socket, code: string, message = ''): void =>
      settle(socket, describeUpstreamFault(url, { code, message, timedOut: false }, waitMs));
    const socket: Socket = secure
      ? tlsConnect({
          ...place,
          // An address has no server name (RFC 6066 §3).
          servername: isIP(host) === 0 ? host : '',
          rejectUnauthorized: verifyCertificate,
          ...(verifyCertificate && { secureContext: machineTrust() }),
        })
      : connect(place);
    let accepted = false;
    socket.setTimeout(waitMs);
    socket.once('connect', () => (accepted = true));
    socket.once(secure ? 'secureConnect' : 'connect', () => settle(socket, null));
    // Whoever takes the connection and says nothing waits for a request in the clear.
    socket.once('timeout', () => fail(socket, accepted ? 'EPROTO' : 'ETIMEDOUT'));
    socket.on('error', (error) =>
      fail(socket, accepted && codeOf(error) === 'ECONNRESET' ? 'EPROTO' : codeOf(error), error.message),
    );
  });
}

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pairsOf } from '../../base/http/message.ts';
import { endToEndFields } from '../../base/http/hop-by-hop.ts';
import { RATE_FIELDS, rateFields } from '../../model/problem.ts';
import type { ProxyLimits } from '../front/proxy-limits.ts';
import type { UpgradeContext } from '../target.ts';
import type { Forwarding } from './forwarding.ts';

/** Limit on bytes that a client may send before its upgrade is answered. */
const EARLY_BYTES_MAX = 64 * 1024;

/** Completes http-proxy's handling of upgrades: early disconnects, closing tunnels, and answers other than 101. */
export function guardUpgrade(
  outgoing: ClientRequest,
  socket: Socket,
  forwarding: Forwarding,
  limits: ProxyLimits,
  opened: UpgradeContext['opened'],
): void {
  // Aborts the upstream request if the client disconnects before the answer.
  socket.once('close', () => outgoing.destroy());
  const early = bufferEarlyBytes(socket, () => outgoing.destroy());
  outgoing.prependOnceListener('upgrade', (incoming: IncomingMessage, upstreamSocket: Socket) => {
    early.restore();
    setRateFields(incoming, forwarding);
    forwarding.phase = 'tunnel';
    socket.setTimeout(limits.tunnelIdleMs, () => socket.destroy());
    socket.once('end', () => socket.setTimeout(limits.tunnelEndMs));
    // The library only ends the upstream's side; with unread data, that socket would stay open.
    socket.once('close', () => closeAfterPeer(upstreamSocket, limits.tunnelEndMs));
    upstreamSocket.once('close', () => closeAfterPeer(socket, limits.tunnelEndMs));
    opened(upstreamSocket, incoming);
  });
  outgoing.prependOnceListener('response', (incoming) => {
    forwarding.phase = 'answering';
    dropHopByHopFields(incoming);
    setRateFields(incoming, forwarding);
    // The library ignores back pressure here.
    incoming.on('data', (chunk: Buffer) => {
      forwarding.count(chunk.length);
      if (!socket.writableNeedDrain) return;
      incoming.pause();
      socket.once('drain', () => incoming.resume());
    });
    // The library closes the connection only after a complete answer.
    incoming.once('close', () => {
      if (!incoming.complete) socket.destroy();
    });
  });
}

/**
 * Closes a tunnel's socket after its peer has closed: when pending data is written, or after `silentMs` without
 * progress.
 */
function closeAfterPeer(socket: Socket, silentMs: number): void {
  socket.setTimeout(silentMs, () => socket.destroy());
  socket.destroySoon();
}

/** The library forwards `headers`. */
function dropHopByHopFields(incoming: IncomingMessage): void {
  const kept = endToEndFields(incoming.rawHeaders, incoming.headers.connection);
  incoming.rawHeaders = kept;
  const names = new Set(kept.filter((_name, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  for (const name of Object.keys(incoming.headers)) {
    if (!names.has(name)) Reflect.deleteProperty(incoming.headers, name);
  }
  incoming.headers.connection = 'close';
}

/** Sets our rate headers, as on every answer of a limited project, in place of the upstream's. */
function setRateFields({ headers }: IncomingMessage, { context: { rate } }: Forwarding): void {
  if (rate === null) return;
  for (const name of Object.keys(headers).filter((name) => RATE_FIELDS.has(name)))
    Reflect.deleteProperty(headers, name);
  for (const [name, value] of pairsOf(rateFields(rate))) headers[name] = value;
}

/**
 * Buffers what a client sends before its upgrade is answered: only a socket that is being read reports a disconnect.
 * `restore` puts the bytes back for the next reader.
 */
function bufferEarlyBytes(socket: Socket, onEnd: () => void): { restore(): void } {
  let chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= EARLY_BYTES_MAX) socket.pause();
  };
  socket.on('data', take);
  socket.once('end', onEnd);
  return {
    restore() {
      socket.off('data', take);
      socket.off('end', onEnd);
      socket.pause();
      if (bytes > 0) socket.unshift(Buffer.concat(chunks));
      chunks = [];
    },
  };
}

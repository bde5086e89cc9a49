import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pairsOf } from '../../base/http/fields.ts';
import { rateFields } from '../../model/problem.ts';
import type { ProxyLimits } from '../proxy-limits.ts';
import { endToEndFields } from './hop-by-hop.ts';
import type { Forwarding } from './forwarding.ts';
import { isRateField } from './rate-fields.ts';

/** What a client may send ahead of the answer to its upgrade. */
const EARLY_BYTES_MAX = 64 * 1024;

/** Puts what http-proxy leaves open about an upgrade in order: who leaves when, and what becomes of an answer that is none. */
export function guardUpgrade(
  outgoing: ClientRequest,
  socket: Socket,
  forwarding: Forwarding,
  limits: ProxyLimits,
): void {
  // A client that leaves before the upstream has answered takes its request along.
  socket.once('close', () => outgoing.destroy());
  const early = bufferEarlyBytes(socket, () => outgoing.destroy());
  outgoing.prependOnceListener('upgrade', (incoming: IncomingMessage, upstreamSocket: Socket) => {
    early.restore();
    setRateFields(incoming, forwarding);
    forwarding.phase = 'tunnel';
    socket.setTimeout(limits.tunnelIdleMs, () => socket.destroy());
    socket.once('end', () => socket.setTimeout(limits.tunnelEndMs));
    // The library ends the upstream's side only. Its socket would stay until somebody reads what it has received, who is gone.
    socket.once('close', () => closeAfterPeer(upstreamSocket, limits.tunnelEndMs));
    upstreamSocket.once('close', () => closeAfterPeer(socket, limits.tunnelEndMs));
    forwarding.opened?.(upstreamSocket);
  });
  outgoing.prependOnceListener('response', (incoming) => {
    forwarding.phase = 'answering';
    dropHopByHopFields(incoming);
    setRateFields(incoming, forwarding);
    // The library writes as fast as it reads.
    incoming.on('data', () => {
      if (!socket.writableNeedDrain) return;
      incoming.pause();
      socket.once('drain', () => incoming.resume());
    });
    // It ends the connection after a whole answer only.
    incoming.once('close', () => {
      if (!incoming.complete) socket.destroy();
    });
  });
}

/** Closes a tunnel's socket whose other side is gone, once it has taken what was meant for it or has stood still for `silentMs`. */
function closeAfterPeer(socket: Socket, silentMs: number): void {
  socket.setTimeout(silentMs, () => socket.destroy());
  socket.destroySoon();
}

/** The library passes on what is in `headers`. */
function dropHopByHopFields(incoming: IncomingMessage): void {
  const kept = endToEndFields(incoming.rawHeaders, incoming.headers.connection);
  incoming.rawHeaders = kept;
  const names = new Set(kept.filter((_name, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  for (const name of Object.keys(incoming.headers)) {
    if (!names.has(name)) Reflect.deleteProperty(incoming.headers, name);
  }
  incoming.headers.connection = 'close';
}

/** As on every answer of a project whose limits hold; an upstream's own would contradict ours. */
function setRateFields({ headers }: IncomingMessage, { context: { rate } }: Forwarding): void {
  if (rate === null) return;
  for (const name of Object.keys(headers).filter(isRateField)) Reflect.deleteProperty(headers, name);
  for (const [name, value] of pairsOf(rateFields(rate))) headers[name] = value;
}

/**
 * Reads what a client sends before its upgrade is answered, because only a socket that is read tells that the other side
 * has left. `restore` puts it back for whoever reads on.
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

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyServer } from 'http-proxy';
import { type HttpRequest, pairsOf, endToEndFields } from '../../base/http/message.ts';
import type { Log } from '../../base/log.ts';
import type { ProxyLimits } from '../front/proxy-limits.ts';
import type { UpgradeContext } from '../route-table.ts';
import type { Forwarding, TransferControl } from './forwarding.ts';
import { type ResponseHead, addTrailers } from './relay.ts';
import { RATE_FIELDS, rateFields } from '../../model/problem.ts';

/**
 * Whether http-proxy sends a request over HTTP/1.1. It declares the body of DELETE and OPTIONS empty and still sends
 * it, which would allow request smuggling; undici sends those, without trailers.
 */
export const isForHttpProxy = ({ request: { headers, method }, body, sendContinue }: Forwarding): boolean =>
  body !== null &&
  (sendContinue !== null || headers.trailer !== undefined) &&
  method !== 'DELETE' &&
  method !== 'OPTIONS';

/** Sends what undici cannot: upgrades, requests that wait for 100 (Continue), and those with trailers. */
export function createHttpProxy(log: Log, limits: ProxyLimits) {
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  const forwardings = new WeakMap<IncomingMessage, Forwarding>();
  const openings = new WeakMap<IncomingMessage, { opened: UpgradeContext['opened']; upgrade: string }>();

  // The callback of each call handles its error; this listener only prevents an uncaught exception.
  proxy.on('error', (error) => log.debug('An upstream failed', { error }));
  proxy.on('econnreset', () => undefined);

  proxy.on('proxyReq', (outgoing, request) => {
    const forwarding = forwardings.get(request);
    if (forwarding === undefined) return;
    forwarding.onRequestStart(controlOf(outgoing));
    outgoing.on('information', ({ statusCode, headers, rawHeaders }) =>
      forwarding.receiveHead({ status: statusCode, reason: '', headers, fields: rawHeaders }),
    );
    // Without this listener, Node ignores an unrequested switch of protocols.
    outgoing.on('upgrade', (_incoming, socket: Socket) => {
      socket.destroy();
      forwarding.fail(Object.assign(new Error('bad upgrade'), { code: 'UND_ERR_SOCKET' }));
    });
    if (forwarding.sendContinue !== null) expectContinue(outgoing, forwarding);
    // Before the end of the pipe, which would send the last chunk without trailers.
    request.prependOnceListener('end', () => {
      const { rawTrailers } = request;
      if (rawTrailers.length > 0 && !outgoing.writableEnded) addTrailers(outgoing, rawTrailers);
    });
  });

  proxy.on('proxyRes', (incoming, request) => {
    const forwarding = forwardings.get(request);
    if (forwarding !== undefined) relay(forwarding, incoming);
  });

  proxy.on('proxyReqWs', (outgoing, request, socket) => {
    const forwarding = forwardings.get(request);
    const opening = openings.get(request);
    if (forwarding === undefined || opening === undefined) return;
    forwarding.onRequestStart(controlOf(outgoing));
    // The library knows only WebSocket, and drops the fields of a request over HTTP/2.
    outgoing.setHeader('connection', 'Upgrade');
    outgoing.setHeader('upgrade', opening.upgrade);
    guardUpgrade(outgoing, socket, forwarding, limits, opening.opened);
  });

  return {
    send(forwarding: Forwarding): void {
      const { context, headers, origin } = forwarding;
      const request = asIncoming(forwarding.request);
      const length = request.headers['content-length'];
      if (length !== undefined && request.headers['transfer-encoding'] === undefined)
        headers['content-length'] = length;
      else headers['transfer-encoding'] = 'chunked';
      take(forwarding, request);
      proxy.web(request, context.response as ServerResponse, origin.dialling, onError(forwarding));
    },
    /** `opened` receives the upstream's socket after a successful upgrade. */
    upgrade(forwarding: Forwarding, socket: Socket, head: Buffer, opened: UpgradeContext['opened']): void {
      const request = asIncoming(forwarding.request);
      const { upgrade = 'websocket' } = request.headers;
      Object.assign(forwarding.headers, { connection: 'Upgrade', upgrade: 'websocket' });
      take(forwarding, request);
      openings.set(request, { opened, upgrade });
      proxy.ws(request, socket, head, forwarding.origin.dialling, onError(forwarding));
    },
  };

  /** The library reads `request.headers`, which over HTTP/2 is a getter without a setter. */
  function take(forwarding: Forwarding, request: IncomingMessage): void {
    forwardings.set(request, forwarding);
    Object.defineProperty(request, 'headers', { value: forwarding.headers, writable: true });
  }
}

const onError = (forwarding: Forwarding) => (error: Error) => forwarding.onResponseError(null, error);

const controlOf = (outgoing: ClientRequest): TransferControl => {
  let response: IncomingMessage | null = null;
  outgoing.on('response', (incoming) => (response = incoming));
  return {
    abort: (error) => void outgoing.destroy(error),
    pause: () => void response?.pause(),
    resume: () => void response?.resume(),
  };
};

/**
 * The upstream decides whether it wants the body (RFC 9110 §10.1.1). Expect is set here because the library emits no
 * `proxyReq` for requests that already have it.
 */
function expectContinue(outgoing: ClientRequest, forwarding: Forwarding): void {
  if (outgoing.headersSent) {
    forwarding.allowBody();
    return;
  }
  outgoing.setHeader('expect', '100-continue');
  outgoing.flushHeaders();
}

function relay(forwarding: Forwarding, incoming: IncomingMessage): void {
  const head: ResponseHead = {
    status: incoming.statusCode ?? 0,
    reason: incoming.statusMessage ?? '',
    headers: incoming.headers,
    fields: incoming.rawHeaders,
  };
  forwarding.receiveHead(head);
  incoming.on('data', (chunk: Buffer) => forwarding.receive(incoming, chunk));
  incoming.on('end', () => forwarding.receiveEnd(incoming.rawTrailers));
  // Node considers a close-delimited body complete, even after a reset (RFC 9112 §8).
  incoming.on('close', () => {
    if (!incoming.complete) forwarding.onResponseError(null, new Error('The upstream broke off.'));
  });
}

/* HTTP/2's compatibility layer has the same members; only the types are not compatible. */
const asIncoming = (request: HttpRequest): IncomingMessage => request as IncomingMessage;

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
    // What came with the answer is put back by the library after this, for the client too: it must not flow before.
    upstreamSocket.pause();
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

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Log } from '../../base/log.ts';
import { LruMap } from '../../base/lru.ts';
import { type BodiedRequest, type HttpRequest, release } from '../../base/http/message.ts';
import type { UpstreamDestination } from '../../model/route.ts';
import { loopDetected } from '../problem.ts';
import type { ProxyLimits } from '../front/proxy-limits.ts';
import type { UpgradeContext, UpstreamContext } from '../route-table.ts';
import { countHops, handshakeOrigin, forwardedHeaders, HOPS_MAX } from '../forwarded.ts';
import { Forwarding, type ForwardingServices, LiveForwardings } from './forwarding.ts';
import { createHttpProxy, isForHttpProxy } from './http-proxy.ts';
import { createOrigin, type Origin } from './origin.ts';
import { codeOf } from './upstream-problem.ts';

export interface UpstreamOptions {
  log: Log;
  limits: ProxyLimits;
  /** This Vivarium's name in `Via`, unique among several on one machine. */
  pseudonym: string;
}

/** Upstreams whose connections are kept. */
const ORIGINS_MAX = 1_000;

/**
 * Forwards requests through undici or HTTP/2 sessions, and through http-proxy what undici cannot send. Header fields in
 * both directions are computed here; `README.md` gives the reasons.
 */
export function createForwarder({ log, limits, pseudonym }: UpstreamOptions) {
  const origins = new LruMap<Origin>(ORIGINS_MAX, (origin) => origin.close());
  const live = new LiveForwardings();
  const httpProxy = createHttpProxy(log, limits);
  const services: ForwardingServices = {
    limits,
    repeat: (forwarding) => send(forwarding),
    onFailure: ({ context }, error) =>
      log.debug('An upstream failed', { url: context.destination.url, code: codeOf(error) }),
  };

  const originOf = (destination: UpstreamDestination): Origin =>
    origins.use(destination.verifyCertificate ? destination.url : `unverified ${destination.url}`, () =>
      createOrigin(destination, limits.upstreamConnectMs),
    );

  function begin(request: HttpRequest, context: UpstreamContext, isUpgrade: boolean): Forwarding | null {
    const { destination, from } = context;
    const hops = countHops(request.headers.via, pseudonym);
    if (hops >= HOPS_MAX) {
      context.answer(loopDetected(hops, destination.url));
      return null;
    }
    const origin = originOf(destination);
    const headers = forwardedHeaders(request.headers, from, request.httpVersion, {
      host: destination.host === 'keep' ? from.authority : origin.host,
      pseudonym,
    });
    const page =
      isUpgrade && destination.host !== 'keep'
        ? handshakeOrigin(request.headers.origin, from, destination.url)
        : undefined;
    if (page !== undefined) headers['origin'] = page;
    const forwarding = new Forwarding(request, context, { origin, headers, repeatable: !isUpgrade }, services);
    live.add(forwarding);
    return forwarding;
  }

  function send(
    forwarding: Forwarding,
    isHttp2: boolean | Promise<boolean> = forwarding.origin.isForHttp2(forwarding.request),
  ): void {
    const { request, origin, headers, body } = forwarding;
    if (typeof isHttp2 !== 'boolean') {
      // Its body must not flow before it has a reader.
      body?.pause();
      isHttp2
        .then((speaksHttp2) => send(forwarding, speaksHttp2))
        .catch((error: Error) => forwarding.onResponseError(null, error));
      return;
    }
    if (!isHttp2 && isForHttpProxy(forwarding)) {
      httpProxy.send(forwarding);
      return;
    }
    const length = request.headers['content-length'];
    // Undici announces an empty body itself.
    if (body !== null && length !== undefined && request.headers['transfer-encoding'] === undefined)
      headers['content-length'] = length;
    const outgoing = {
      method: request.method ?? '',
      path: `${origin.path}${request.url}`,
      headers,
      body: body === null ? null : isHttp2 ? body.pipe(new PassThrough()) : bodyOf(body),
      // Relevant only to pipelining, which is off; undici would look for another request at every response.
      blocking: false,
    };
    if (isHttp2) {
      if (forwarding.sendContinue !== null) headers['expect'] = '100-continue';
      origin.http2.dispatch({ ...outgoing, trailers: () => body?.rawTrailers ?? [] }, forwarding);
    } else {
      forwarding.allowBody();
      origin.pool.dispatch(outgoing, forwarding);
    }
  }

  return {
    handle(request: HttpRequest, context: UpstreamContext): void {
      const forwarding = begin(request, context, false);
      if (forwarding === null) return;
      context.response.on('close', () => {
        live.delete(forwarding);
        forwarding.abandon();
      });
      forwarding.body?.on('data', (chunk: Buffer) => forwarding.count(chunk.length));
      send(forwarding);
    },
    upgrade(request: IncomingMessage, socket: Socket, head: Buffer, context: UpgradeContext): void {
      const forwarding = begin(request, context, true);
      if (forwarding === null) return;
      socket.once('close', () => live.delete(forwarding));
      httpProxy.upgrade(forwarding, socket, head, context.opened);
    },
    /** Aborts requests that have stalled for too long at `nowMs`, on the monotonic clock. */
    sweep(nowMs: number): void {
      for (const forwarding of live.all()) {
        // An upstream without support for 100 waits for the body; it has had one sweep interval to respond.
        if (forwarding.seen !== null) forwarding.allowBody();
        if (forwarding.isStalled(nowMs, limits)) forwarding.timeOut();
      }
    },
    close(): void {
      for (const [, origin] of origins) origin.close();
    },
  };
}

/** The body for undici, which pauses after a large chunk until it is written; the next one shows that it can be freed. */
function bodyOf(request: BodiedRequest): PassThrough {
  const body = new PassThrough();
  let written: Buffer | null = null;
  body.pause().on('data', (chunk: Buffer) => {
    if (written !== null) release(written);
    written = chunk.length >= body.readableHighWaterMark ? chunk : null;
  });
  return request.pipe(body);
}

export type Forwarder = ReturnType<typeof createForwarder>;

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createProxyServer } from 'http-proxy';
import type { RateState } from '../../base/decision.ts';
import type { Log } from '../../base/log.ts';
import { loopDetected } from '../problem.ts';
import type { ProxyLimits } from '../proxy-limits.ts';
import type { UpstreamDestination } from '../snapshot.ts';
import type { ProxyRequest, ProxyResponse, UpstreamContext, UpstreamTarget } from '../target.ts';
import { createAgents } from './agents.ts';
import { countHops, forwardedHeaders, HOPS_MAX } from './forwarding.ts';
import { endToEndFields } from './hop-by-hop.ts';
import { isRateField, rateFields } from './rate-fields.ts';
import { codeOf, explainUpstreamFault } from './upstream-problem.ts';

export interface UpstreamOptions {
  log: Log;
  limits: ProxyLimits;
  /** What this Vivarium calls itself in `Via`; another one on the same machine has another name. */
  pseudonym: string;
}

export interface Upstreams extends UpstreamTarget {
  close(): void;
}

/** Methods whose request may be sent again when a kept connection turns out to be closed (RFC 9110 §9.2.2). */
const SAFE_TO_REPEAT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** What a client may send ahead of the answer to its upgrade. */
const EARLY_BYTES_MAX = 64 * 1024;

/** One request on its way to its upstream. */
interface Passage {
  context: UpstreamContext;
  /** Told when an upgrade has succeeded. */
  opened: (() => void) | null;
  url: URL;
  outgoing: ClientRequest | null;
  bodiless: boolean;
  repeated: boolean;
  timedOut: boolean;
}

/**
 * Passes requests on to upstreams through http-proxy, which dials, pipes and upgrades. Its own idea of header fields is
 * replaced: what is sent either way is decided here (`README.md` says why).
 */
export function createUpstreams({ log, limits, pseudonym }: UpstreamOptions): Upstreams {
  const agents = createAgents();
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  const passages = new WeakMap<object, Passage>();
  keepBodiesWhole(proxy);

  proxy.on('proxyReq', (outgoing, request) => {
    const passage = passages.get(request);
    if (passage === undefined) return;
    passage.outgoing = outgoing;
    outgoing.setTimeout(limits.upstreamAnswerMs);
    outgoing.once('timeout', () => {
      passage.timedOut = true;
      outgoing.destroy();
    });
    outgoing.on('information', (information) => passInformation(information, passage.context.response));
    // Before the end of the pipe, which would send the last chunk without them.
    request.prependOnceListener('end', () => {
      const { rawTrailers } = request;
      if (rawTrailers.length > 0 && !outgoing.writableEnded) addTrailers(outgoing, rawTrailers);
    });
  });

  proxy.on('proxyRes', (incoming, request) => {
    const passage = passages.get(request);
    if (passage === undefined) return;
    const { context, outgoing } = passage;
    const { response } = context;
    if (response.headersSent || response.destroyed) {
      incoming.destroy();
      return;
    }
    outgoing?.setTimeout(limits.upstreamIdleMs);
    try {
      writeHead(response, incoming, context.rate);
    } catch (error) {
      incoming.destroy();
      log.debug('An upstream answered with what cannot be passed on', { url: context.destination.url, error });
      context.answer(
        explainUpstreamFault(context.destination.url, { code: 'HPE_INVALID', message: '', timedOut: false }, 0),
      );
      return;
    }
    incoming.once('end', () => {
      if (incoming.rawTrailers.length > 0) addTrailers(response, incoming.rawTrailers);
    });
    // An upstream that breaks off leaves a response that only looks whole: the client is cut off, too.
    pipeline(incoming, asHttp1(response), (error) => {
      if (error === null || error === undefined) return;
      log.debug('A response from an upstream was not finished', { url: context.destination.url, code: codeOf(error) });
      context.cut();
    });
  });

  proxy.on('proxyReqWs', (outgoing, request, socket) => {
    const passage = passages.get(request);
    if (passage === undefined) return;
    passage.outgoing = outgoing;
    // A client that leaves before the upstream has answered takes its request along.
    socket.once('close', () => outgoing.destroy());
    const early = readEarly(socket, () => outgoing.destroy());
    outgoing.setTimeout(limits.upstreamAnswerMs);
    outgoing.once('timeout', () => {
      passage.timedOut = true;
      outgoing.destroy(new Error('The upstream did not answer the upgrade in time.'));
    });
    outgoing.prependOnceListener('upgrade', (_incoming, upstreamSocket: Socket) => {
      early.giveBack();
      outgoing.setTimeout(0);
      const idle = (): void => void socket.destroy();
      socket.setTimeout(limits.tunnelIdleMs, idle);
      upstreamSocket.once('close', () => socket.destroySoon());
      passage.opened?.();
    });
    outgoing.prependOnceListener('response', (incoming) => {
      const kept = endToEndFields(incoming.rawHeaders, incoming.headers.connection);
      incoming.rawHeaders = kept;
      const names = new Set(kept.filter((_name, index) => index % 2 === 0).map((name) => name.toLowerCase()));
      for (const name of Object.keys(incoming.headers))
        if (!names.has(name)) Reflect.deleteProperty(incoming.headers, name);
      // The library ends the connection after it.
      incoming.headers.connection = 'close';
    });
  });

  // Whoever asked is told by the callback of each call; this one only keeps an error from being nobody's.
  proxy.on('error', (error) => log.debug('An upstream failed', { error }));
  proxy.on('econnreset', () => undefined);

  function begin(request: ProxyRequest, context: UpstreamContext, opened: (() => void) | null = null): Passage | null {
    const { destination } = context;
    const hops = countHops(request.headers.via, pseudonym);
    if (hops >= HOPS_MAX) {
      context.answer(loopDetected(hops, destination.url));
      return null;
    }
    const url = urlOf(destination);
    const passage: Passage = {
      context,
      opened,
      url,
      outgoing: null,
      bodiless: request.complete || isBodiless(request),
      repeated: false,
      timedOut: false,
    };
    passages.set(request, passage);
    replaceHeaders(request, {
      ...forwardedHeaders(
        request.headers,
        { ...context.from, version: request.httpVersion },
        { host: destination.host === 'keep' ? context.from.authority : url.host, pseudonym },
      ),
      ...framing(request, passage.bodiless),
    });
    return passage;
  }

  const optionsFor = ({ url, context }: Passage) => ({
    target: url,
    agent: agents.for(url.protocol),
    secure: context.destination.verifyCertificate,
    connectTimeout: limits.upstreamConnectMs,
    // Copied from by the library, and written to.
    ssl: url.protocol === 'https:' ? { servername: url.hostname } : {},
  });

  function pass(request: ProxyRequest, passage: Passage): void {
    const { context } = passage;
    const onError = (error: Error): void => {
      if (passage.context.response.headersSent) return;
      if (mayRepeat(request, passage, error)) {
        passage.repeated = true;
        pass(request, passage);
        return;
      }
      log.debug('An upstream failed', { url: context.destination.url, code: codeOf(error) });
      context.answer(faultOf(passage, error));
    };
    proxy.web(asIncoming(request), asHttp1(context.response), optionsFor(passage), onError);
  }

  function faultOf({ context, timedOut }: Passage, error: Error) {
    const fault = { code: codeOf(error), message: error.message, timedOut };
    return explainUpstreamFault(context.destination.url, fault, limits.upstreamAnswerMs);
  }

  return {
    isPreflight: (request) =>
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined,
    handle(request, context) {
      const passage = begin(request, context);
      if (passage !== null) pass(request, passage);
    },
    upgrade(request, socket, head, context) {
      const passage = begin(request, context, context.opened);
      if (passage === null) return;
      request.headers.connection = 'Upgrade';
      request.headers.upgrade = 'websocket';
      let answered = false;
      const onError = (error: Error): void => {
        if (answered || socket.destroyed) return;
        answered = true;
        log.debug('An upstream failed a WebSocket', { url: context.destination.url, code: codeOf(error) });
        context.answer(faultOf(passage, error));
      };
      proxy.ws(request, socket, head, { ...optionsFor(passage), agent: undefined }, onError);
    },
    close() {
      agents.close();
    },
  };
}

/**
 * Reads what a client sends before its upgrade is answered, because only a socket that is read tells that the other side
 * has left. `giveBack` puts it back for whoever reads on.
 */
function readEarly(socket: Socket, onEnd: () => void): { giveBack(): void } {
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
    giveBack() {
      socket.off('data', take);
      socket.off('end', onEnd);
      socket.pause();
      if (bytes > 0) socket.unshift(Buffer.concat(chunks));
      chunks = [];
    },
  };
}

/** Parsed once: a destination is a value of the snapshot, and does not change. */
const urls = new WeakMap<UpstreamDestination, URL>();

function urlOf(destination: UpstreamDestination): URL {
  let url = urls.get(destination);
  if (url === undefined) {
    url = new URL(destination.url);
    urls.set(destination, url);
  }
  return url;
}

/**
 * The library declares the body of DELETE and OPTIONS to be empty and then sends it all the same: bytes that the upstream
 * takes for another request (request smuggling). Framing is decided in `framing` instead.
 */
function keepBodiesWhole(proxy: object): void {
  const passes = proxy as { webPasses?: { name: string }[] };
  if (passes.webPasses === undefined) throw new Error('This http-proxy has no passes to choose from.');
  passes.webPasses = passes.webPasses.filter(({ name }) => name === 'stream');
  if (passes.webPasses.length !== 1) throw new Error('This http-proxy has no pass named "stream".');
}

const isBodiless = ({ headers, httpVersionMajor }: ProxyRequest): boolean =>
  headers['transfer-encoding'] === undefined &&
  (headers['content-length'] === '0' || (headers['content-length'] === undefined && httpVersionMajor < 2));

/** How the upstream knows where the body ends: the client's own length, chunks where it gave none, nothing without one. */
function framing(request: ProxyRequest, bodiless: boolean): Record<string, string> {
  const length = request.headers['content-length'];
  if (length !== undefined && request.headers['transfer-encoding'] === undefined) return { 'content-length': length };
  if (!bodiless) return { 'transfer-encoding': 'chunked' };
  return SAFE_TO_REPEAT.has(request.method ?? '') ? {} : { 'content-length': '0' };
}

/** The library reads what it sends from `request.headers`; that object is Node's, and of HTTP/2 it cannot be replaced. */
function replaceHeaders(request: ProxyRequest, headers: Record<string, string | string[]>): void {
  for (const name of Object.keys(request.headers)) Reflect.deleteProperty(request.headers, name);
  Object.assign(request.headers, headers);
}

/** A kept connection that the upstream had closed already: nothing was done with the request (RFC 9112 §9.3.1). */
function mayRepeat(request: ProxyRequest, { bodiless, repeated, outgoing, timedOut }: Passage, error: Error): boolean {
  return (
    !repeated &&
    !timedOut &&
    bodiless &&
    outgoing?.reusedSocket === true &&
    ['ECONNRESET', 'EPIPE'].includes(codeOf(error)) &&
    SAFE_TO_REPEAT.has(request.method ?? '')
  );
}

function writeHead(response: ProxyResponse, incoming: IncomingMessage, rate: RateState | null): void {
  const fields = endToEndFields(incoming.rawHeaders, incoming.headers.connection);
  const status = incoming.statusCode ?? 502;
  const own = rate === null ? [] : Object.entries(rateFields(rate)).flat();
  const kept = rate === null ? fields : withoutFields(fields, isRateField);
  if (isHttp2(response)) {
    response.writeHead(status, toHttp2([...kept, ...own]));
    return;
  }
  // Set one by one where something is set already, such as `Connection: close` while Vivarium stops.
  response.writeHead(status, incoming.statusMessage, [...kept, ...own]);
}

function withoutFields(fields: readonly string[], unwanted: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] as string;
    if (!unwanted(name.toLowerCase())) kept.push(name, fields[index + 1] as string);
  }
  return kept;
}

/** Field names of HTTP/2 are lower case, and those of one name stand together (RFC 9113 §8.2). */
function toHttp2(fields: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] as string).toLowerCase();
    const value = fields[index + 1] as string;
    const before = headers[name];
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return headers;
}

const isHttp2 = (response: ProxyResponse): response is Http2ServerResponse => 'stream' in response;

function addTrailers(
  message: { addTrailers(trailers: Record<string, string>): void },
  rawTrailers: readonly string[],
): void {
  const trailers: Record<string, string> = {};
  for (let index = 0; index < rawTrailers.length; index += 2) {
    trailers[(rawTrailers[index] as string).toLowerCase()] = rawTrailers[index + 1] as string;
  }
  message.addTrailers(trailers);
}

/** 102 and 103 are passed on (RFC 9110 §15.2); 100 is between us and the upstream, 101 is an upgrade. */
function passInformation(
  {
    statusCode,
    rawHeaders,
    headers,
  }: { statusCode: number; rawHeaders: string[]; headers: NodeJS.Dict<string | string[]> },
  response: ProxyResponse,
): void {
  if (response.headersSent || response.destroyed || response.req.httpVersion === '1.0') return;
  if (statusCode === 103) {
    const fields = toHttp2(endToEndFields(rawHeaders, undefined));
    if (fields['link'] === undefined) return;
    try {
      response.writeEarlyHints({ ...fields, link: headers.link ?? fields['link'] });
    } catch {
      // Hints are optional; one that Node does not take for a link is not worth an error.
    }
  } else if (statusCode === 102 && !isHttp2(response)) response.writeProcessing();
}

/* The compatibility layer of HTTP/2 has the same members; only the types do not unite. */
const asHttp1 = (response: ProxyResponse): ServerResponse => response as ServerResponse;
const asIncoming = (request: ProxyRequest): IncomingMessage => request as IncomingMessage;

import { type IncomingMessage, request as openHttp } from 'node:http';
import { request as openHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { bodyUpTo, pairsOf, responseTo } from '../../base/http/message.ts';
import type { Scheme } from '../../base/text/hostname.ts';
import { unavailable } from '../../contract/errors.ts';
import { LOOK_PREFIX } from '../../base/config.ts';
import { type Answer, bodyOf } from '../../base/http/answer.ts';
import { createApiKeySecret } from '../../base/secret.ts';

/** A request to this Vivarium's own listener of a scheme. */
export interface LoopbackRequest {
  scheme: Scheme;
  method: string;
  /** In origin form, with the query. */
  target: string;
  /** All header fields in order; the sender sets the framing fields, too. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer | null;
}

export interface LoopbackResponse {
  httpVersion: string;
  status: number;
  reason: string;
  headers: [name: string, value: string][];
  body: Buffer;
  /** Whether the body was truncated at the size or time limit. */
  cut: boolean;
  /** The client's port, which identifies the connection at the listener. */
  fromPort: number;
  /** Real milliseconds since the request began. */
  firstByteMs: number;
  totalMs: number;
}

/** Limit on the recorded response; a page of the API is far smaller. */
export const LOOPBACK_BYTES_MAX = 1024 * 1024;

/** Time limit for a response, in real time; the same as for a whole request. */
export const LOOPBACK_MS_MAX = 30_000;

/** Sends requests through Vivarium's own listeners, so all stages apply; no other destination is reachable. */
export function createLoopback({
  clock,
  ports,
}: {
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  ports: Readonly<Record<Scheme, number>>;
}) {
  return {
    /** @throws VivariumError `unavailable` if no answer arrives in time. */
    async send(
      { scheme, method, target, headers, body }: LoopbackRequest,
      signal?: AbortSignal,
    ): Promise<LoopbackResponse> {
      const startedMs = clock.monotonic();
      const sent = (scheme === 'https' ? openHttps : openHttp)({
        host: '127.0.0.1',
        port: ports[scheme],
        servername: serverNameOf(headers),
        // The other side is this process, and its certificates are valid by the app's clock, not in real time.
        rejectUnauthorized: false,
        method,
        path: target,
        // Node sends a flat array unchanged and adds no fields.
        headers: headers.flat(),
        setHost: false,
        agent: false,
        signal,
      });
      const timer = clock.realTimer(LOOPBACK_MS_MAX, () =>
        sent.destroy(new Error(`no answer within ${LOOPBACK_MS_MAX / 1_000} seconds`)),
      );
      try {
        const response = await responseTo(sent.end(body));
        const firstByteMs = clock.monotonic() - startedMs;
        // Read now, while the response still has its socket.
        const fromPort = response.socket.localPort ?? 0;
        const read = await readBody(response);
        const { httpVersion, statusCode: status = 0, statusMessage: reason = '', rawHeaders } = response;
        const totalMs = clock.monotonic() - startedMs;
        return { httpVersion, status, reason, headers: pairsOf(rawHeaders), ...read, fromPort, firstByteMs, totalMs };
      } catch (error) {
        const fault = error instanceof Error ? faultOf(error) : String(error);
        throw unavailable(`The listener gave no answer: ${fault}.`, { cause: error });
      } finally {
        timer.cancel();
      }
    },
  };
}

export type Loopback = ReturnType<typeof createLoopback>;

/** OpenSSL's message contains addresses and source locations; one of its parts says what happened. */
const faultOf = ({ message }: Error): string => /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message;

/** The host in `Host`, without its port. RFC 6066 §3: addresses are not allowed as server names. */
function serverNameOf(headers: LoopbackRequest['headers']): string {
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? '';
  const hostname = host.replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
  return isIP(hostname) === 0 ? hostname : '';
}

/** The bytes received before the end, a limit, or a failure. */
async function readBody(response: IncomingMessage): Promise<Pick<LoopbackResponse, 'body' | 'cut'>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let cut = false;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      cut = bytes > LOOPBACK_BYTES_MAX;
      if (cut) break;
    }
  } catch {
    cut = true;
  }
  return { body: Buffer.concat(chunks).subarray(0, LOOPBACK_BYTES_MAX), cut };
}

/** Time limit of one look, in real time; proxies in between may be slow. */
const LOOK_MS_MAX = 3_000;

/** The result of a request for a hostname at an address: this Vivarium, another server's status, or no answer. */
export type Look = { served: true } | { served: false; status: number | null };

/** Whether a request target has the form of a look; such requests are not the user's. */
export const isLook = (target: string): boolean => target.startsWith(LOOK_PREFIX);

/**
 * Looks at a hostname over HTTP, as a platform's verification does: sends a request with a fresh secret in its path,
 * and finds out whether this Vivarium answers it, directly or through a proxy.
 */
export function createLooks(options: { port: () => number }) {
  /** Secrets in paths, with the secrets that answer them: a server that echoes the request proves nothing. */
  const expected = new Map<string, { text: string; arrived?: () => void }>();

  return {
    /** The answer to the request of a look in progress; null for any other request target. */
    answer(target: string): Answer | null {
      if (!isLook(target)) return null;
      const found = expected.get(target.slice(LOOK_PREFIX.length));
      if (found === undefined) return null;
      found.arrived?.();
      const body = bodyOf(found.text);
      const headers = ['Content-Type', 'text/plain', 'Content-Length', body.length, 'Cache-Control', 'no-store'];
      return { status: 200, headers, body, close: false };
    },
    /** Sends GET to this address, at the port of the HTTP listener. Never rejects. */
    async look(hostname: string, address: string): Promise<Look> {
      const [asked, answer] = [createApiKeySecret(), createApiKeySecret()];
      expected.set(asked, { text: answer });
      try {
        const found = await get(hostname, { address, port: options.port(), path: `${LOOK_PREFIX}${asked}` });
        return found.text === answer ? { served: true } : { served: false, status: found.status };
      } catch {
        return { served: false, status: null };
      } finally {
        expected.delete(asked);
      }
    },
    /** A path for a client that should reach this Vivarium; `arrived` resolves with its first request. */
    expect(): { path: string; arrived: Promise<unknown>; forget: () => void } {
      const asked = createApiKeySecret();
      const { promise, resolve } = Promise.withResolvers<null>();
      expected.set(asked, { text: 'Vivarium', arrived: () => resolve(null) });
      return { path: `${LOOK_PREFIX}${asked}`, arrived: promise, forget: () => void expected.delete(asked) };
    },
  };
}

export type Looks = ReturnType<typeof createLooks>;

/** The status, and the beginning of the body. @throws the connection's error, or after the time limit. */
async function get(hostname: string, { address, port, path }: { address: string; port: number; path: string }) {
  const signal = AbortSignal.timeout(LOOK_MS_MAX);
  const sent = openHttp({ host: address, port, path, headers: { host: hostname }, agent: false, signal }).end();
  const response = await responseTo(sent);
  const body = await bodyUpTo(1_000, response);
  return { status: response.statusCode ?? 0, text: body.toString('latin1') };
}

import { request as open } from 'node:http';
import { LOOK_PREFIX } from '../../base/config.ts';
import { type Answer, bodyOf } from '../../base/http/answer.ts';
import { createApiKeySecret } from '../../base/secret.ts';

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

interface Place {
  address: string;
  port: number;
  path: string;
}

/** The status, and the beginning of the body. @throws the connection's error, or after the time limit. */
function get(hostname: string, { address, port, path }: Place): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(LOOK_MS_MAX);
    const sent = open({ host: address, port, path, headers: { host: hostname }, agent: false, signal });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      const done = (): void => {
        resolve({ status: response.statusCode ?? 0, text });
        sent.destroy();
      };
      response.setEncoding('latin1');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > 1_000) done();
      });
      response.on('end', done);
      response.on('error', reject);
    });
    sent.end();
  });
}

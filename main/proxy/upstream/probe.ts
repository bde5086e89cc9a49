import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { TargetSetting } from '../../contract/projects.ts';
import type { Handler } from './http2-transfer.ts';
import { createOrigin } from './origin.ts';
import { codeOf, explainUpstreamFault } from './upstream-problem.ts';

/** A server that needs longer for one request is not ready for more. */
const PROBE_ANSWER_MS = 10_000;

export type ProbedUpstream = Pick<
  Extract<TargetSetting, { kind: 'upstream' }>,
  'url' | 'verifyCertificate' | 'checkPath'
>;

/**
 * Requests the check path of an upstream, as part of a deploy. Any answer counts as success, even 404, 401 or 426. A
 * server that does not answer is asked for a WebSocket there, because it may serve nothing else. `pseudonym` lets this
 * Vivarium recognise its own request if it comes back.
 * @throws Error with a remedy if there is no answer, if the server is not ready (502, 503, 504), or if the target loops
 *   (508).
 */
export async function probeUpstream(
  { url, verifyCertificate = true, checkPath }: ProbedUpstream,
  pseudonym: string,
  answerMs: number = PROBE_ANSWER_MS,
): Promise<void> {
  const target = new URL(url);
  const path = checkPath ?? target.pathname;
  const headers = { Accept: '*/*', 'User-Agent': 'vivarium-deploy', Via: `1.1 ${pseudonym}` };
  const origin = createOrigin({ url, verifyCertificate }, answerMs);
  const ask = async (): Promise<number> => {
    const isHttp2 = await origin.isForHttp2({ headers: {} });
    return new Promise((resolve, reject) => {
      const handler: Handler = {
        onRequestStart() {
          const late = Object.assign(new Error('It has not answered.'), { code: TIMED_OUT });
          AbortSignal.timeout(answerMs).addEventListener('abort', () => reject(late));
        },
        onResponseStart: (_control, status) => void (status >= 200 && resolve(status)),
        // Closing the connections aborts the body.
        onResponseData: () => undefined,
        onResponseEnd: () => undefined,
        onResponseError: (_control, error) => reject(error),
      };
      const request = { path, method: 'GET', headers };
      if (isHttp2) origin.http2.dispatch({ ...request, body: null, trailers: () => [] }, handler);
      else origin.pool.dispatch(request, handler);
    });
  };
  const status = await ask()
    .catch((error: Error) => {
      if (origin.meetsOtherVersion(error)) return ask();
      throw error;
    })
    .catch(async (error: Error) => {
      const code = codeOf(error);
      const timedOut = code === TIMED_OUT;
      const upgraded = timedOut ? await askForWebSocket(new URL(path, origin.dialling.target)) : null;
      if (upgraded !== null) return upgraded;
      throw new Error(explainUpstreamFault(url, { code, message: error.message, timedOut }, answerMs).message);
    })
    .finally(() => origin.close());
  if (status === LOOP_DETECTED) {
    throw new Error(`The target ${target.origin} leads back to this Vivarium (508). Point it at your own server.`);
  }
  if (NOT_READY.has(status)) {
    throw new Error(
      `The upstream ${target.origin} answers ${status}: it is running but not ready. Wait for it, then deploy again.`,
    );
  }

  /** The status of the answer to a handshake (RFC 6455 §4.1); null without one. */
  function askForWebSocket(at: URL): Promise<number | null> {
    return new Promise((resolve) => {
      const asking = (at.protocol === 'https:' ? httpsRequest : httpRequest)(at, {
        ...origin.dialling.ssl,
        rejectUnauthorized: verifyCertificate,
        agent: false,
        headers: {
          ...headers,
          Connection: 'Upgrade',
          Upgrade: 'websocket',
          'Sec-WebSocket-Version': '13',
          'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
        },
        signal: AbortSignal.timeout(answerMs),
      });
      const settle = (status: number | null): void => {
        resolve(status);
        asking.destroy();
      };
      asking.on('response', ({ statusCode }) => settle(statusCode ?? null));
      asking.on('upgrade', (_answer, socket) => {
        socket.destroy();
        settle(101);
      });
      asking.on('error', () => settle(null));
      asking.end();
    });
  }
}

const TIMED_OUT = 'PROBE_TIMED_OUT';
const LOOP_DETECTED = 508;
const NOT_READY: ReadonlySet<number> = new Set([502, 503, 504]);

import type { UpstreamDestination } from '../../model/route.ts';
import { createOrigin } from './origin.ts';
import { codeOf, explainUpstreamFault } from './upstream-problem.ts';

/** A server that needs longer for one request is not ready for more. */
const PROBE_ANSWER_MS = 10_000;

/**
 * Requests the root path of an upstream, as part of a deploy. Any answer counts as success, even 404 or 401.
 * `pseudonym` lets this Vivarium recognise its own request if it comes back.
 * @throws Error with a remedy if there is no answer, if the server is not ready (502, 503, 504), or if the target loops
 *   (508).
 */
export async function probeUpstream(
  { url, verifyCertificate }: Pick<UpstreamDestination, 'url' | 'verifyCertificate'>,
  pseudonym: string,
): Promise<void> {
  const target = new URL(url);
  const origin = createOrigin({ url, verifyCertificate }, PROBE_ANSWER_MS);
  const ask = async (): Promise<number> => {
    const answer = await origin.poolFor({ headers: {} }).request({
      path: `${target.pathname}${target.search}`,
      method: 'GET',
      headers: { Accept: '*/*', 'User-Agent': 'vivarium-deploy', Via: `1.1 ${pseudonym}` },
      headersTimeout: PROBE_ANSWER_MS,
    });
    // Closing the connections breaks it off.
    answer.body.on('error', () => undefined);
    return answer.statusCode;
  };
  const status = await ask()
    .catch((error: Error) => {
      if (origin.meetsOtherVersion(error)) return ask();
      throw error;
    })
    .catch((error: Error) => {
      const code = codeOf(error);
      const fault = { code, message: error.message, timedOut: code === 'UND_ERR_HEADERS_TIMEOUT' };
      throw new Error(explainUpstreamFault(url, fault, PROBE_ANSWER_MS).message);
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
}

const LOOP_DETECTED = 508;
const NOT_READY: ReadonlySet<number> = new Set([502, 503, 504]);

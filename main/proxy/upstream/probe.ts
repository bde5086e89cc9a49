import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { UpstreamDestination } from '../../model/route.ts';
import { lookup } from './lookup.ts';
import { machineTrust } from './dial.ts';
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
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
  const status = await new Promise<number>((resolve, reject) => {
    let timedOut = false;
    const asking = request(target, {
      lookup,
      agent: false,
      headers: { Accept: '*/*', 'User-Agent': 'vivarium-deploy', Via: `1.1 ${pseudonym}` },
      rejectUnauthorized: verifyCertificate,
      ...(target.protocol === 'https:' && verifyCertificate && { secureContext: machineTrust() }),
      timeout: PROBE_ANSWER_MS,
    });
    asking.on('timeout', () => {
      timedOut = true;
      asking.destroy();
    });
    asking.on('response', (response) => {
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    asking.on('error', (error) => {
      const fault = { code: codeOf(error), message: error.message, timedOut };
      reject(new Error(explainUpstreamFault(url, fault, PROBE_ANSWER_MS).message));
    });
    asking.end();
  });
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

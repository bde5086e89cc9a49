import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { UpstreamDestination } from '../../model/route.ts';
import { lookup, machineTrust } from './dial.ts';

/** Where many frameworks serve their OpenAPI document. */
const DOCUMENT_PATH = '/openapi.json';

const DOCUMENT_BYTES_MAX = 1024 * 1024;
const DOCUMENT_MS_MAX = 10_000;

/**
 * Reads the OpenAPI document of an upstream, without examining its text. The request bypasses the listeners, because
 * no client sent it: it is neither counted nor recorded. `authority` is the requested host and port, for upstreams that
 * keep it; `pseudonym` lets this Vivarium recognise its own request if it comes back. Null without an answer 200 in
 * time.
 */
export async function readUpstreamDocument(
  { url, host, verifyCertificate }: UpstreamDestination,
  { authority, pseudonym, signal }: { authority: string; pseudonym: string; signal?: AbortSignal | undefined },
): Promise<Buffer | null> {
  const target = new URL(url);
  target.pathname = target.pathname.replace(/\/$/, '') + DOCUMENT_PATH;
  const secure = target.protocol === 'https:';
  const timeout = AbortSignal.timeout(DOCUMENT_MS_MAX);
  const asking = (secure ? httpsRequest : httpRequest)(target, {
    lookup,
    agent: false,
    headers: {
      Accept: 'application/json',
      'User-Agent': 'vivarium-reference',
      Via: `1.1 ${pseudonym}`,
      ...(host === 'keep' && { Host: authority }),
    },
    rejectUnauthorized: verifyCertificate,
    ...(secure && verifyCertificate && { secureContext: machineTrust() }),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  return new Promise((resolve) => {
    asking.on('error', () => resolve(null));
    asking.on('response', async (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      try {
        if (response.statusCode !== 200) throw new Error('no document');
        for await (const chunk of response as AsyncIterable<Buffer>) {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > DOCUMENT_BYTES_MAX) throw new Error('too long');
        }
        resolve(Buffer.concat(chunks));
      } catch {
        response.destroy();
        resolve(null);
      }
    });
    asking.end();
  });
}

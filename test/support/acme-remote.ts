import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { AcmeAnswer, Endpoint } from '../../main/acme/endpoint.ts';
import type { RuntimeFile } from '../../main/base/config.ts';
import { challengeOf, createTestClient, type Received, type TestClient } from './acme-client.ts';

type Running = Pick<RuntimeFile, 'https' | 'caFile'>;

/** The ACME server of a running engine, over its HTTPS port. */
export function remoteEndpoint({ https: { port }, caFile }: Running): Pick<Endpoint, 'answer'> & { close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 64, ca: readFileSync(caFile) });
  return {
    answer: ({ method, target: path, contentType, body }) =>
      new Promise<AcmeAnswer>((resolve, reject) => {
        const headers = { ...(contentType !== undefined && { 'content-type': contentType }) };
        const options = { host: '127.0.0.1', port, servername: 'localhost', method, path, headers, agent };
        const sent = request({ ...options, setHost: false }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const { statusCode: status = 0, rawHeaders } = response;
            resolve({ status, headers: rawHeaders, body: Buffer.concat(chunks).toString() });
          });
        });
        sent.on('error', reject);
        sent.setHeader('host', `localhost:${port}`);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** A client of a running engine. */
export const createRemoteClient = (runtime: Running): TestClient =>
  createTestClient(remoteEndpoint(runtime), `https://localhost:${runtime.https.port}`);

/** What the TXT record of an authorisation's dns-01 challenge has to be, and its name (RFC 8555 §8.4). */
export async function textRecordOf(
  { keyAuthorization }: TestClient,
  { json }: Received,
): Promise<{ name: string; value: string }> {
  const { value } = json['identifier'] as { value: string };
  const expected = await keyAuthorization(challengeOf(json, 'dns-01').token);
  return { name: `_acme-challenge.${value}`, value: hash('sha256', expected, 'base64url') };
}

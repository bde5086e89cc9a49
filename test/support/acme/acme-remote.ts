import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Endpoint } from '../../../main/acme/endpoint.ts';
import type { AcmeAnswer, AcmeRequest } from '../../../main/acme/requests.ts';
import type { RuntimeFile } from '../../../main/base/config.ts';
import { challengeOf, createTestClient, type Received, type TestClient } from './acme-client.ts';

/** What a client needs to know about a running engine. */
type Running = Pick<RuntimeFile, 'https' | 'caFile'>;

const CONNECTIONS_MAX = 64;

/** A client of a running engine, over its HTTPS port. */
export interface RemoteClient extends TestClient {
  origin: string;
  /** Sends a request unchanged. */
  answer: Endpoint['answer'];
  close(): void;
}

export function createRemoteClient({ https: { port }, caFile }: Running): RemoteClient {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX, ca: readFileSync(caFile) });
  async function answer({ method, target: path, contentType, body }: AcmeRequest): Promise<AcmeAnswer> {
    const headers = {
      host: `localhost:${port}`,
      ...(contentType !== undefined && { 'content-type': contentType }),
      ...(method === 'POST' && { 'content-length': body.length }),
    };
    const options = { host: '127.0.0.1', port, servername: 'localhost', method, path, headers, agent };
    const [response] = (await once(request(options).end(body), 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.rawHeaders, body: await text(response) };
  }
  const origin = `https://localhost:${port}`;
  const client = createTestClient({ answer }, { origin, keepsNonces: true });
  return Object.assign(client, { origin, answer, close: () => agent.destroy() });
}

/** The required TXT record of an authorization's dns-01 challenge, and its name (RFC 8555 §8.4). */
export async function textRecordOf(
  { keyAuthorization }: TestClient,
  { json }: Received,
): Promise<{ name: string; value: string }> {
  const { value } = json['identifier'] as { value: string };
  const expected = await keyAuthorization(challengeOf(json, 'dns-01').token);
  return { name: `_acme-challenge.${value}`, value: hash('sha256', expected, 'base64url') };
}

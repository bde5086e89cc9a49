import { generateKeyPairSync, type KeyPairKeyObjectResult, X509Certificate } from 'node:crypto';
import { FlattenedSign, calculateJwkThumbprint, type JWK } from 'jose';
import type { Endpoint } from '../../../main/acme/endpoint.ts';
import type { AcmeAnswer } from '../../../main/acme/requests.ts';
import { createCsr } from '../certificate-request.ts';

export const ORIGIN = 'https://localhost:8443';

/** An answer with its fields in lower case, and its body parsed. */
export interface Received {
  status: number;
  fields: Record<string, string[]>;
  text: string;
  json: Record<string, unknown>;
}

export type TestClient = ReturnType<typeof createTestClient>;

export interface PostOptions {
  nonce?: string;
  /** Signs with `jwk` in place of `kid`. */
  byKey?: KeyPairKeyObjectResult;
  header?: Record<string, unknown>;
  contentType?: string;
}

const LOOPBACK = '127.0.0.1';

/** Calls an endpoint without a signature. */
export const ask = async ({ answer }: Answering, target: string, method = 'GET'): Promise<Received> =>
  receive(await answer({ method, target, contentType: undefined, address: LOOPBACK, body: Buffer.alloc(0) }));

type Answering = Pick<Endpoint, 'answer'>;

/**
 * A minimal ACME client of an endpoint in this process, or of one that `acme-remote.ts` reaches. It requests each
 * nonce, unless it keeps those of answers.
 */
export function createTestClient(endpoint: Answering, { origin = ORIGIN, keepsNonces = false } = {}) {
  const kept: string[] = [];
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const jwk = keys.publicKey.export({ format: 'jwk' }) as JWK;

  const client = {
    keys,
    address: LOOPBACK,
    /** The account's URL, after `register`. */
    kid: null as string | null,
    /** Signs and sends; `payload` undefined is POST-as-GET. A path, or a whole URL. */
    async post(path: string, payload?: unknown, options: PostOptions = {}): Promise<Received> {
      const { nonce, byKey, header = {}, contentType = 'application/jose+json' } = options;
      const url = path.startsWith('https:') ? path : origin + path;
      const known = nonce ?? kept.pop();
      const fresh = known ?? (await ask(endpoint, '/acme/new-nonce', 'HEAD')).fields['replay-nonce']?.[0] ?? '';
      const by =
        byKey === undefined && client.kid !== null
          ? { kid: client.kid }
          : { jwk: (byKey ?? client.keys).publicKey.export({ format: 'jwk' }) };
      const body = payload === undefined ? '' : typeof payload === 'string' ? payload : JSON.stringify(payload);
      const jws = await new FlattenedSign(Buffer.from(body))
        .setProtectedHeader({ alg: 'ES256', url, nonce: fresh, ...by, ...header })
        .sign((byKey ?? client.keys).privateKey);
      const target = url.slice(origin.length);
      const { address } = client;
      const sent = { method: 'POST', target, contentType, address, body: Buffer.from(JSON.stringify(jws)) };
      const received = receive(await endpoint.answer(sent));
      if (keepsNonces) kept.push(...(received.fields['replay-nonce'] ?? []));
      return received;
    },
    /** Agrees to the terms of service unless the payload says otherwise. */
    async register(payload = {}): Promise<Received> {
      const agreed = { termsOfServiceAgreed: true, ...payload };
      const answer = await client.post('/acme/new-account', agreed, { byKey: client.keys });
      client.kid = answer.fields['location']?.[0] ?? null;
      return answer;
    },
    order: (names: readonly string[], more = {}, profile = 'classic'): Promise<Received> =>
      client.post(`/acme/${profile}/new-order`, {
        identifiers: names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'ip' : 'dns', value })),
        ...more,
      }),
    async authorizations(order: Received): Promise<Received[]> {
      const urls = order.json['authorizations'] as string[];
      return Promise.all(urls.map((url) => client.post(url)));
    },
    /** Responds to a challenge of each pending authorization, and returns the challenges. */
    async respond(order: Received, method = 'http-01'): Promise<Received[]> {
      const open = (await client.authorizations(order)).filter(({ json }) => json['status'] === 'pending');
      return Promise.all(open.map(({ json }) => client.post(challengeOf(json, method).url, {})));
    },
    finalize: (order: Received, csr: Buffer): Promise<Received> =>
      client.post(String(order.json['finalize']), { csr: csr.toString('base64url') }),
    /** Does all steps up to the leaf. @throws Error with the first unsuccessful answer */
    async obtain(names: readonly string[], more?: object, profile?: string) {
      const wanted = success(await client.order(names, more, profile));
      const responses = await client.respond(wanted, names.some((name) => name.startsWith('*')) ? 'dns-01' : 'http-01');
      for (const response of responses) success(response);
      await validated(client, String(wanted.fields['location']?.[0]));
      const certified = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
      const order = success(await client.finalize(wanted, createCsr({ names, keys: certified })));
      const { text } = success(await client.post(String(order.json['certificate'])));
      return { order, leaf: new X509Certificate(text), chain: text, keys: certified };
    },
    keyAuthorization: async (token: string) => `${token}.${await calculateJwkThumbprint(jwk)}`,
  };
  return client;
}

export function challengeOf(authorization: Record<string, unknown>, type: string): { url: string; token: string } {
  const all = authorization['challenges'] as { type: string; url: string; token: string }[];
  const found = all.find((each) => each.type === type);
  if (found === undefined) throw new Error(`There is no challenge ${type}.`);
  return found;
}

export const urlOf = (order: Received): string => String(order.fields['location']?.[0]);

/** The state of an order now. */
export const statusOf = async (client: TestClient, order: Received) => (await client.post(urlOf(order))).json['status'];

/** The last part of the type of a problem. */
export const problemOf = ({ status, json }: Received): string =>
  `${String(json['type']).split(':').at(-1) ?? ''} ${status}`;

/** As in a renewal-info URL (RFC 9773 §4.1). */
export function certificateIdOf(leaf: X509Certificate, issuerKey: Buffer): string {
  return `${issuerKey.toString('base64url')}.${Buffer.from(leaf.serialNumber, 'hex').toString('base64url')}`;
}

/** Polls an order until its validations have ended, as a client does (RFC 8555 §7.4). */
async function validated(client: TestClient, orderUrl: string): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    if (success(await client.post(orderUrl)).json['status'] !== 'pending') return;
  }
}

const POLLS_MAX = 1_000;

function success(answer: Received): Received {
  if (answer.status >= 400) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}

function receive({ status, headers, body }: AcmeAnswer): Received {
  const fields: Record<string, string[]> = {};
  for (let index = 0; index < headers.length; index += 2) {
    (fields[(headers[index] ?? '').toLowerCase()] ??= []).push(headers[index + 1] ?? '');
  }
  const isJson = /json$/.test(fields['content-type']?.[0] ?? '');
  return { status, fields, text: body ?? '', json: isJson ? (JSON.parse(body ?? '') as Record<string, unknown>) : {} };
}

import { sign } from 'node:crypto';
import type { AcmeRequest } from '../../../main/acme/requests.ts';
import { mutate, pick } from '../../bench/fuzz/mutate.ts';
import { challengeOf, type TestClient } from './acme-client.ts';
import { createCsr, p256 } from '../certificate-request.ts';
import { sequence } from '../sequence.ts';

/** A request as a client would send it, before a mutation. */
interface Template {
  url: string;
  payload: string;
  /** Signed by the account, or by the key itself. */
  signer: 'kid' | 'jwk';
}

/** Orders whose requests are mutated; some of them are ready, and wait for a CSR. */
const READY = 20;

/** A request for each resource; its orders must become valid. */
export async function requestTemplates(client: TestClient, origin: string): Promise<Template[]> {
  const json = (value: unknown): string => JSON.stringify(value);
  const at = (path: string): string => `${origin}/acme/${path}`;
  const identifiers = [
    { type: 'dns', value: 'fuzz.acme.test' },
    { type: 'ip', value: '127.0.0.1' },
  ];
  const { leaf } = await client.obtain(['leaf.acme.test']);
  const pending = await client.order(['pending.acme.test']);
  const [authorization] = await client.authorizations(pending);
  if (authorization === undefined) throw new Error('The order has no authorization.');
  const ready: Template[] = [];
  for (let count = 0; count < READY; count++) {
    const names = [`ready${count}.acme.test`, '127.0.0.1'];
    const order = await client.order(names);
    await client.respond(order);
    const csr = createCsr({ names, commonName: names[0] }).toString('base64url');
    ready.push({ url: String(order.json['finalize']), payload: json({ csr }), signer: 'kid' });
  }
  const [firstReady] = ready;
  if (firstReady === undefined) throw new Error('There is no order.');
  const other = p256();
  const protectedInner = { alg: 'ES256', url: at('key-change'), jwk: other.publicKey.export({ format: 'jwk' }) };
  const inner = { account: client.kid, oldKey: client.keys.publicKey.export({ format: 'jwk' }) };
  return [
    {
      url: at('new-account'),
      payload: json({ contact: ['mailto:a@acme.test'], termsOfServiceAgreed: true }),
      signer: 'jwk',
    },
    { url: client.kid ?? '', payload: json({ contact: ['mailto:b@acme.test'] }), signer: 'kid' },
    { url: `${client.kid ?? ''}/orders?after=none`, payload: '', signer: 'kid' },
    { url: at('classic/new-order'), payload: json({ identifiers, profile: 'classic' }), signer: 'kid' },
    { url: String(pending.fields['location']?.[0]), payload: '', signer: 'kid' },
    { url: challengeOf(authorization.json, 'http-01').url, payload: '{}', signer: 'kid' },
    { url: at('revoke'), payload: json({ certificate: leaf.raw.toString('base64url'), reason: 4 }), signer: 'jwk' },
    {
      url: at('key-change'),
      // Otherwise its signature is wrong, or a mutation would change the account's key.
      payload: json({ protected: encoded(json(protectedInner)), payload: encoded(json(inner)), signature: 'AAAA' }),
      signer: 'kid',
    },
    // As often as the others together: most of the parsing concerns the CSR.
    ...ready,
  ];
}

const encoded = (octets: string | Buffer): string => Buffer.from(octets).toString('base64url');

/**
 * Mutates a request at a random place, and signs again if the change comes before the signature; the same seed gives
 * the same result, except for nonces.
 */
export function mutatedRequest(
  templates: readonly Template[],
  { kid, keys }: TestClient,
  { nonce, seed }: { nonce: string; seed: number },
): AcmeRequest {
  const random = sequence(seed);
  const { url, payload, signer } = pick(templates, random);
  const by = signer === 'kid' ? { kid } : { jwk: keys.publicKey.export({ format: 'jwk' }) };
  const changed = random(5);
  const change = (which: number, octets: string): Buffer =>
    which === changed ? mutate(Buffer.from(octets), random) : Buffer.from(octets);
  const header = encoded(change(0, JSON.stringify({ alg: 'ES256', nonce, url, ...by })));
  const body = encoded(change(1, changed === 2 ? withOctetsChanged(payload, random) : payload));
  const signature = sign('sha256', Buffer.from(`${header}.${body}`), {
    key: keys.privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  const jws = JSON.stringify({ protected: header, payload: body, signature: encoded(signature) });
  const { origin } = new URL(url);
  return {
    method: 'POST',
    target: change(4, url.slice(origin.length))
      .toString('latin1')
      .replaceAll(/[^\x21-\x7e]/g, '~'),
    ...{ contentType: 'application/jose+json', address: '127.0.0.1' },
    body: change(3, jws),
  };
}

/** Mutates what base64url within a payload encodes: a CSR, a certificate, parts of another JWS. */
const withOctetsChanged = (payload: string, random: (below: number) => number): string =>
  payload.replaceAll(/"([\w-]{40,})"/g, (_all, text: string) =>
    JSON.stringify(encoded(mutate(Buffer.from(text, 'base64url'), random))),
  );

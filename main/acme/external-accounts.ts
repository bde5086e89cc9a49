import { flattenedVerify } from 'jose';
import type { AcmeExternalKey, AcmeRows } from '../model/acme.ts';
import { algorithmFault, isObject, parseObject, type PublicJwk, readFlattened, thumbprintOf, readKey } from './jws.ts';
import { AcmeError, malformed } from './problem.ts';

/** RFC 8555 §7.3.4: the algorithm of a binding is a MAC's. */
const MACS = ['HS256', 'HS384', 'HS512'] as const;

/** A binding whose form and MAC are right: what the account keeps, and the key that it uses up. */
export interface ExternalBinding {
  /** As the client sent it, and as its account shows it. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly key: AcmeExternalKey;
}

/**
 * Reads `externalAccountBinding` of a new account (RFC 8555 §7.3.4): a JWS over the account's own key, made with a key
 * that `acme.createExternalKey` handed out. Null without one. @throws AcmeError
 */
export async function readBinding(
  given: unknown,
  { jwk, url, rows, required }: { jwk: PublicJwk; url: string; rows: Pick<AcmeRows, 'externalKey'>; required: boolean },
): Promise<ExternalBinding | null> {
  if (given === undefined || given === null) {
    if (!required) return null;
    throw new AcmeError(
      'externalAccountRequired',
      'New accounts need an external account here. To make one: vivarium acme create-external-key',
    );
  }
  if (!isObject(given)) throw malformed('"externalAccountBinding" is a JWS.');
  const { header, flattened } = readFlattened(given, 'The binding');
  const { alg, kid, url: signed } = header;
  if (!MACS.some((known) => known === alg)) throw algorithmFault('The binding', MACS);
  if ('nonce' in header) throw malformed('The binding may have no "nonce".');
  if (signed !== url) throw malformed('The binding has another "url" than the request that it is in.');
  if (typeof kid !== 'string') throw malformed('The binding needs the external key’s identifier as "kid".');
  const key = rows.externalKey(kid);
  if (key === null) throw new AcmeError('unauthorized', 'There is no external key of the identifier in "kid".');
  const payload = await flattenedVerify(flattened, Buffer.from(key.secret, 'base64url'), {
    algorithms: [...MACS],
  }).then(
    (verified) => Buffer.from(verified.payload).toString(),
    () => {
      throw new AcmeError('unauthorized', `The MAC of the binding is not made with the external key ${key.id}.`);
    },
  );
  const bound = readKey(parseObject(payload, 'The payload of the binding'));
  if ((await thumbprintOf(bound)) !== (await thumbprintOf(jwk))) {
    throw malformed('The payload of the binding is not the key that signs the request.');
  }
  return { sent: given, key };
}

/** Why a key opens no account; null if it does. Each opens one. */
export function externalKeyFault({ id, accountId, revokedAtMs }: AcmeExternalKey): string | null {
  if (revokedAtMs !== undefined) return `The external key ${id} is revoked.`;
  return accountId === undefined ? null : `The external key ${id} has opened an account already.`;
}

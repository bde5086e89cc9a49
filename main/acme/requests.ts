import type { AcmeAccount } from '../model/acme.ts';
import type { Payload } from './accounts.ts';
import { createNonces, type PublicJwk, readJws, verifyJws } from './jws.ts';
import type { AcmeParts } from './parts.ts';
import { AcmeError, malformed, type AcmeRefusal } from './problem.ts';
import { accountUrl, REQUEST_OCTETS_MAX } from './resources.ts';

export interface AcmeRequest {
  method: string;
  /** Path and query. */
  target: string;
  contentType: string | undefined;
  address: string;
  /** Read up to one octet past the limit. */
  body: Buffer;
  /** Collected while the request is processed, for the log of refused requests. */
  about?: Partial<Pick<AcmeRefusal, 'names' | 'orderId' | 'accountId'>>;
}

export interface AcmeAnswer {
  status: number;
  /** Name, value, … */
  headers: readonly string[];
  /** Null for none. */
  body: string | null;
}

/** A request whose signature is verified. */
interface Signed {
  url: string;
  payload: string;
  by: { account: AcmeAccount } | { jwk: PublicJwk };
}

export type Signatures = ReturnType<typeof createSignatures>;

/** Verifies who signed a request, and that it is no replay. */
export function createSignatures({ rows, origin }: Pick<AcmeParts, 'rows' | 'origin'>) {
  const nonces = createNonces();

  /** @throws AcmeError */
  async function authenticate(
    { target, contentType, body, about = {} }: AcmeRequest,
    keys: 'jwk' | 'kid' | 'both',
  ): Promise<Signed> {
    if (contentType?.split(';', 1)[0]?.trim().toLowerCase() !== 'application/jose+json') {
      throw new AcmeError('malformed', 'The body must be a JWS with Content-Type: application/jose+json.', {
        status: 415,
      });
    }
    if (body.length > REQUEST_OCTETS_MAX) {
      throw new AcmeError('malformed', `A request may have at most ${REQUEST_OCTETS_MAX} octets.`, { status: 413 });
    }
    const jws = readJws(body.toString());
    const url = origin() + target;
    if (jws.url !== url) throw malformed(`The protected header’s "url" is not ${url}, to which the request was sent.`);
    if (jws.nonce === null || !nonces.use(jws.nonce)) {
      throw new AcmeError(
        'badNonce',
        'The nonce is unknown or was already used. Repeat the request with the nonce of this response.',
      );
    }
    if ('jwk' in jws.by) {
      if (keys === 'kid') throw malformed('This request must be signed by an account: "kid" instead of "jwk".');
      return { url, payload: await verifyJws(jws, jws.by.jwk), by: { jwk: jws.by.jwk } };
    }
    if (keys === 'jwk') throw malformed('This request must contain the key that signs it: "jwk" instead of "kid".');
    const { kid } = jws.by;
    const prefix = accountUrl(origin(), '');
    if (!kid.startsWith(prefix)) throw malformed(`"kid" is not the URL of an account here, such as ${prefix}….`);
    const account = rows.account(kid.slice(prefix.length));
    if (account === null) throw new AcmeError('accountDoesNotExist', 'No account exists at the URL in "kid".');
    const payload = await verifyJws(jws, account.key);
    Object.assign(about, { accountId: account.id });
    if (account.status !== 'valid') throw new AcmeError('unauthorized', `The account is ${account.status}.`);
    return { url, payload, by: { account } };
  }

  const byAccount = async (request: AcmeRequest) => {
    const { url, payload, by } = await authenticate(request, 'kid');
    if ('account' in by) return { url, payload, account: by.account };
    throw malformed('This request must be signed by an account.');
  };

  return {
    authenticate,
    /** A request signed by an account. @throws AcmeError */
    byAccount,
    /** The fields of an answer with a new nonce. */
    nonceFields: () => ['Replay-Nonce', nonces.create(), 'Cache-Control', 'no-store'],
  };
}

export const NOT_FOUND = (): AcmeError => new AcmeError('malformed', 'Nothing exists at this URL.', { status: 404 });

/** @throws AcmeError if the resource does not exist or belongs to another account. */
export function own<Resource extends { readonly accountId: string }>(
  found: Resource | null,
  { id }: AcmeAccount,
): Resource {
  if (found === null) throw NOT_FOUND();
  if (found.accountId !== id) throw new AcmeError('unauthorized', 'This belongs to another account.');
  return found;
}

export function textOf(payload: Payload, name: string): string | null {
  const value = payload[name];
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  throw malformed(`"${name}" must be a string.`);
}

export function base64urlOf(payload: Payload, name: string): Buffer {
  const value = textOf(payload, name);
  if (value !== null && /^[A-Za-z0-9_-]+$/.test(value)) return Buffer.from(value, 'base64url');
  throw malformed(`"${name}" is missing, or not in base64url without padding.`);
}

export const json = (status: number, body: unknown, headers: readonly string[] = []): AcmeAnswer => ({
  status,
  headers: ['Content-Type', 'application/json', ...headers],
  body: JSON.stringify(body),
});

export const link = (url: string, rel: string): string[] => ['Link', `<${url}>;rel="${rel}"`];

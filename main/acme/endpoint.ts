import type { Log } from '../base/log.ts';
import type { AcmeAccount, AcmeAuthorization, AcmeMethod, AcmeOrder } from '../model/acme.ts';
import { type Accounts, createAccounts, type Payload } from './accounts.ts';
import { createCertificates } from './certificates.ts';
import { readIdentifiers } from './identifiers.ts';
import { createAuthorizations, type Authorizations } from './authorizations.ts';
import { parseObject, type PublicJwk, readJws, verifyJws, createNonces } from './jws.ts';
import { createOrders, type Orders } from './orders.ts';
import type { AcmeParts } from './parts.ts';
import { AcmeError, malformed, problemDocument } from './problem.ts';
import { DEFAULT_PROFILE, describeProfiles, findProfile } from './profiles.ts';
import type { AcmeRefusal } from './refusals.ts';
import {
  accountResource,
  authorizationResource,
  authorizationUrl,
  certificateUrl,
  challengeResource,
  orderResource,
  orderUrl,
  renewalResource,
  ACME_PATH,
  accountUrl,
  directoryUrl,
  REQUEST_OCTETS_MAX,
  termsUrl,
} from './resources.ts';

/** A request below `ACME_PATH`. */
export interface AcmeRequest {
  method: string;
  /** Path and query. */
  target: string;
  contentType: string | undefined;
  /** The client's address. */
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

/** Orders on one page of an account's list. */
const ORDERS_LISTED = 50;

/** Problems that normal clients cause: a first request without a nonce, and the check for an existing account. */
const UNLOGGED: ReadonlySet<string> = new Set(['badNonce', 'accountDoesNotExist']);

/** The website of the server, and its terms of service. */
const TERMS = `This is the ACME server of a Vivarium. It runs on one machine, for tests.
Its certificates are valid only where the root of this Vivarium is trusted. That is all there is to agree to.
`;

/** `Retry-After` in seconds of a resource that is being processed. */
const POLL_SECONDS = 1;

/** A request whose signature is verified. */
interface Signed {
  url: string;
  payload: string;
  by: { account: AcmeAccount } | { jwk: PublicJwk };
}

/** The ACME server (RFC 8555). */
export interface Endpoint {
  /** Answers a request. Never rejects. */
  answer(request: AcmeRequest): Promise<AcmeAnswer>;
  /** With their current state, for views. */
  orders: Pick<Orders, 'get'>;
  authorizations: Pick<Authorizations, 'get' | 'deactivate'>;
  accounts: Pick<Accounts, 'update'>;
}

export function createEndpoint(parts: AcmeParts): Endpoint {
  const { rows, origin } = parts;
  const place = () => ({ origin: origin(), issuer: parts.caaDomain() });
  const nonces = createNonces();
  const accounts = createAccounts(parts);
  const authorizations = createAuthorizations(parts);
  const orders = createOrders(parts, authorizations);
  const certificates = createCertificates(parts);

  /** @throws AcmeError */
  async function authenticate(
    { contentType, body, about = {} }: AcmeRequest,
    path: string,
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
    const url = origin() + path;
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

  const byAccount = async (request: AcmeRequest, path: string) => {
    const { url, payload, by } = await authenticate(request, path, 'kid');
    if ('account' in by) return { url, payload, account: by.account };
    throw malformed('This request must be signed by an account.');
  };

  async function newAccount(request: AcmeRequest, path: string): Promise<AcmeAnswer> {
    const { url, payload, by } = await authenticate(request, path, 'jwk');
    if (!('jwk' in by)) throw malformed('A new account must be signed with its own key.');
    const { account, created } = await accounts.open(by.jwk, parseObject(payload, 'The payload'), {
      url,
      address: request.address,
    });
    const headers = ['Location', accountUrl(origin(), account.id)];
    return json(created ? 201 : 200, accountResource(origin(), account), headers);
  }

  async function accountAt(request: AcmeRequest, path: string, id: string, rest: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request, path);
    if (account.id !== id) throw new AcmeError('unauthorized', 'The URL belongs to another account.');
    const location = ['Location', accountUrl(origin(), id)];
    if (rest === '') {
      const changed = payload === '' ? account : accounts.update(account, parseObject(payload, 'The payload'));
      return json(200, accountResource(origin(), changed), location);
    }
    const after = new URLSearchParams(path.split('?')[1] ?? '').get('after');
    const found = rows.orders({ accountId: id, ...(after !== null && { after }), limit: ORDERS_LISTED + 1 });
    const listed = found.slice(0, ORDERS_LISTED);
    const next = `${accountUrl(origin(), id)}/orders?after=${listed.at(-1)?.id ?? ''}`;
    const more = found.length > listed.length ? link(next, 'next') : [];
    return json(200, { orders: listed.map((order) => orderUrl(origin(), order.id)) }, more);
  }

  async function newOrder(request: AcmeRequest, path: string, profileOfUrl: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request, path);
    const given = parseObject(payload, 'The payload');
    for (const name of ['notBefore', 'notAfter']) {
      if (given[name] !== undefined)
        throw malformed(`"${name}" is not supported; the profile determines how long certificates are valid.`);
    }
    const identifiers = readIdentifiers(given['identifiers']);
    Object.assign(request.about ?? {}, { names: identifiers.map(({ value }) => value) });
    const order = orders.create(account, {
      identifiers,
      profile: textOf(given, 'profile') ?? profileOfUrl,
      replaces: textOf(given, 'replaces'),
    });
    return orderAnswer(201, order);
  }

  function orderAnswer(status: number, order: AcmeOrder): AcmeAnswer {
    const location = ['Location', orderUrl(origin(), order.id)];
    const retry = order.status === 'processing' ? ['Retry-After', String(POLL_SECONDS)] : [];
    return json(status, orderResource(origin(), order), [...location, ...retry]);
  }

  async function orderAt(request: AcmeRequest, path: string, id: string, rest: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request, path);
    const order = own(orders.get(id), account);
    Object.assign(request.about ?? {}, { orderId: id });
    if (rest === '') return orderAnswer(200, await orders.poll(order));
    const csr = base64urlOf(parseObject(payload, 'The payload'), 'csr');
    return orderAnswer(200, await orders.finalize(account, order, csr));
  }

  async function authorizationAt(request: AcmeRequest, path: string, id: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request, path);
    const found = own(authorizations.get(id), account);
    const given: Payload = payload === '' ? {} : parseObject(payload, 'The payload');
    if (given['status'] !== undefined && given['status'] !== 'deactivated') {
      throw malformed('The status of an authorization can be changed to "deactivated" only.');
    }
    const shown = given['status'] === undefined ? found : authorizations.deactivate(found);
    return json(200, authorizationResource(place(), shown), retryOf(shown));
  }

  async function challengeAt(request: AcmeRequest, path: string, id: string, type: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request, path);
    const found = own(authorizations.get(id), account);
    if (!found.challenges.some((each) => each.type === type)) throw NOT_FOUND();
    if (payload !== '') parseObject(payload, 'The payload');
    const shown = payload === '' ? found : await authorizations.respond(account, found, type as AcmeMethod);
    const challenge = shown.challenges.find((each) => each.type === type);
    if (challenge === undefined) throw NOT_FOUND();
    const up = link(authorizationUrl(origin(), id), 'up');
    return json(200, challengeResource(place(), shown, challenge), [...up, ...retryOf(shown)]);
  }

  async function certificateAt(request: AcmeRequest, path: string, serial: string, rest: string): Promise<AcmeAnswer> {
    const { account } = await byAccount(request, path);
    const certificate = own(rows.certificate(serial), account);
    const chain = rest === '' ? 0 : Number(rest);
    const body = certificates.chain(certificate, chain);
    if (body === null) throw NOT_FOUND();
    const others = Array.from({ length: certificates.chains(certificate) }, (_, index) => index);
    const alternates = others
      .filter((index) => index !== chain)
      .flatMap((index) => link(certificateUrl(origin(), serial, index), 'alternate'));
    return { status: 200, headers: ['Content-Type', 'application/pem-certificate-chain', ...alternates], body };
  }

  async function revoke(request: AcmeRequest, path: string): Promise<AcmeAnswer> {
    const { payload, by } = await authenticate(request, path, 'both');
    const given = parseObject(payload, 'The payload');
    await certificates.revoke(base64urlOf(given, 'certificate'), given['reason'], by);
    return { status: 200, headers: [], body: null };
  }

  async function keyChange(request: AcmeRequest, path: string): Promise<AcmeAnswer> {
    const { url, payload, account } = await byAccount(request, path);
    const changed = await accounts.changeKey(account, payload, url);
    return json(200, accountResource(origin(), changed), ['Location', accountUrl(origin(), changed.id)]);
  }

  function directory(profile: string): AcmeAnswer {
    const at = (path: string): string => origin() + ACME_PATH + path;
    return json(200, {
      newNonce: at('new-nonce'),
      newAccount: at('new-account'),
      newOrder: at(`${profile}/new-order`),
      revokeCert: at('revoke'),
      keyChange: at('key-change'),
      renewalInfo: at('renewal-info'),
      meta: parts.faults.directory({
        termsOfService: termsUrl(origin()),
        website: at(''),
        caaIdentities: [parts.caaDomain()],
        profiles: describeProfiles(),
        ...(parts.externalAccountRequired() && { externalAccountRequired: true }),
      }),
    });
  }

  /** Finds the methods and the handler of a path. Null if there is none. */
  function routeOf(
    path: string,
  ): { methods: readonly string[]; answer: (request: AcmeRequest) => AcmeAnswer | Promise<AcmeAnswer> } | null {
    const [first = '', second = '', third = '', ...more] = (path.split('?', 1)[0] ?? '')
      .slice(ACME_PATH.length)
      .split('/');
    if (more.length > 0) return null;
    const post = (answer: (request: AcmeRequest) => Promise<AcmeAnswer>) => ({ methods: ['POST'], answer });
    const get = (answer: () => AcmeAnswer) => ({ methods: ['GET', 'HEAD'], answer });
    /** RFC 8555 §6.3: the directory and newNonce accept POST-as-GET as well. */
    const either = (read: (method: string) => AcmeAnswer) => ({
      methods: ['GET', 'HEAD', 'POST'],
      async answer(request: AcmeRequest) {
        const payload = request.method === 'POST' ? (await byAccount(request, path)).payload : '';
        if (payload !== '') throw malformed('The payload of a POST-as-GET must be empty.');
        return read(request.method);
      },
    });
    if (findProfile(first) !== undefined && third === '') {
      if (second === 'directory') return either(() => directory(first));
      if (second === 'new-order') return post((request) => newOrder(request, path, first));
      return null;
    }
    if (second === '') {
      switch (first) {
        case '':
        case 'terms':
          return get(() => ({ status: 200, headers: ['Content-Type', 'text/plain; charset=utf-8'], body: TERMS }));
        case 'new-nonce':
          return either(nonceAnswer);
        case 'new-account':
          return post((request) => newAccount(request, path));
        case 'revoke':
          return post((request) => revoke(request, path));
        case 'key-change':
          return post((request) => keyChange(request, path));
        default:
          return null;
      }
    }
    switch (first) {
      case 'account':
        return third === '' || third === 'orders' ? post((request) => accountAt(request, path, second, third)) : null;
      case 'order':
        return third === '' || third === 'finalize' ? post((request) => orderAt(request, path, second, third)) : null;
      case 'authorization':
        return third === '' ? post((request) => authorizationAt(request, path, second)) : null;
      case 'challenge':
        return post((request) => challengeAt(request, path, second, third));
      case 'certificate':
        return post((request) => certificateAt(request, path, second, third));
      case 'renewal-info':
        return third === '' ? get(() => renewalInfo(second)) : null;
      default:
        return null;
    }
  }

  /** Every answer to a POST has a nonce anyway. */
  const nonceAnswer = (method: string): AcmeAnswer => ({
    status: method === 'GET' ? 204 : 200,
    headers: method === 'POST' ? [] : nonceFields(),
    body: null,
  });

  function renewalInfo(id: string): AcmeAnswer {
    const info = certificates.renewalInfo(id);
    return json(200, renewalResource(info), ['Retry-After', String(info.askAgain)]);
  }

  async function answer(request: AcmeRequest): Promise<AcmeAnswer> {
    const { method, target } = request;
    const route = routeOf(target);
    const index = link(directoryUrl(origin(), DEFAULT_PROFILE), 'index');
    const about = {};
    try {
      if (route === null) throw NOT_FOUND();
      parts.faults.request(request);
      if (!route.methods.includes(method)) {
        throw new AcmeError('malformed', `This URL accepts ${route.methods.join(' or ')} only.`, {
          status: 405,
          headers: ['Allow', route.methods.join(', ')],
        });
      }
      const answer = await route.answer({ ...request, about });
      if (method === 'POST') await rows.stored();
      return withFields(answer, [...(method === 'POST' ? nonceFields() : []), ...index]);
    } catch (error) {
      if (error instanceof AcmeError && route !== null && !UNLOGGED.has(error.type)) {
        const { type, message: detail } = error;
        parts.refusals.add({ atMs: parts.clock.state().now, type, detail, path: target, ...about });
        parts.onChanged();
      }
      return withFields(refusalOf(error, parts.log), [...(method === 'POST' ? nonceFields() : []), ...index]);
    }
  }

  function nonceFields(): string[] {
    return ['Replay-Nonce', nonces.create(), 'Cache-Control', 'no-store'];
  }

  return { answer, orders, authorizations, accounts };
}

const withFields = (answer: AcmeAnswer, fields: readonly string[]): AcmeAnswer => ({
  ...answer,
  headers: [...answer.headers, ...fields],
});

const NOT_FOUND = (): AcmeError => new AcmeError('malformed', 'Nothing exists at this URL.', { status: 404 });

/** @throws AcmeError if the resource does not exist or belongs to another account. */
function own<Resource extends { readonly accountId: string }>(found: Resource | null, { id }: AcmeAccount): Resource {
  if (found === null) throw NOT_FOUND();
  if (found.accountId !== id) throw new AcmeError('unauthorized', 'This belongs to another account.');
  return found;
}

const retryOf = ({ challenges }: AcmeAuthorization): string[] =>
  challenges.some(({ status }) => status === 'processing') ? ['Retry-After', String(POLL_SECONDS)] : [];

function textOf(payload: Payload, name: string): string | null {
  const value = payload[name];
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  throw malformed(`"${name}" must be a string.`);
}

function base64urlOf(payload: Payload, name: string): Buffer {
  const value = textOf(payload, name);
  if (value !== null && /^[A-Za-z0-9_-]+$/.test(value)) return Buffer.from(value, 'base64url');
  throw malformed(`"${name}" is missing, or not in base64url without padding.`);
}

const json = (status: number, body: unknown, headers: readonly string[] = []): AcmeAnswer => ({
  status,
  headers: ['Content-Type', 'application/json', ...headers],
  body: JSON.stringify(body),
});

const link = (url: string, rel: string): string[] => ['Link', `<${url}>;rel="${rel}"`];

function refusalOf(error: unknown, log: Pick<Log, 'error'>): AcmeAnswer {
  let problem: AcmeError;
  if (error instanceof AcmeError) problem = error;
  else {
    log.error('An ACME request failed', { error });
    problem = new AcmeError('serverInternal', 'The request failed; the log contains the reason.');
  }
  return {
    status: problem.status,
    headers: ['Content-Type', 'application/problem+json', ...problem.headers],
    body: JSON.stringify({ ...problemDocument(problem), ...problem.members }),
  };
}

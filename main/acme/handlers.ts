import { X509Certificate } from 'node:crypto';
import type { RevocationReason } from '../contract/certificates.ts';
import type { AcmeAccount, AcmeAuthorization, AcmeCertificate, AcmeMethod, AcmeOrder } from '../model/acme.ts';
import { createAccounts, type Payload } from './accounts.ts';
import { createAuthorizations } from './authorizations.ts';
import { readIdentifiers } from './identifiers.ts';
import { parseObject, type PublicJwk, thumbprintOf } from './jws.ts';
import { createOrders, type NewOrder } from './orders.ts';
import type { AcmeParts } from './parts.ts';
import { AcmeError, malformed } from './problem.ts';
import { askAgainSeconds, findCertificate, type Window, wireWindow } from './profiles.ts';
import { base64urlOf, json, link, NOT_FOUND, own, textOf } from './requests.ts';
import type { AcmeAnswer, AcmeRequest, Signatures } from './requests.ts';
import {
  accountResource,
  accountUrl,
  authorizationResource,
  authorizationUrl,
  certificateUrl,
  challengeResource,
  orderResource,
  orderUrl,
  renewalResource,
} from './resources.ts';

/** Orders on one page of an account's list. */
const ORDERS_LISTED = 50;
/** `Retry-After` in seconds of a resource that is being processed. */
const POLL_SECONDS = 1;

export type Handlers = ReturnType<typeof createHandlers>;

/** The answers to requests for each kind of resource. Each throws AcmeError. */
export function createHandlers(parts: AcmeParts, { authenticate, byAccount }: Signatures) {
  const { rows, origin } = parts;
  const place = () => ({ origin: origin(), issuer: parts.caaDomain() });
  const accounts = createAccounts(parts);
  const authorizations = createAuthorizations(parts);
  const orders = createOrders(parts, authorizations);
  const certificates = createCertificates(parts);

  async function newAccount(request: AcmeRequest): Promise<AcmeAnswer> {
    const { url, payload, by } = await authenticate(request, 'jwk');
    if (!('jwk' in by)) throw malformed('A new account must be signed with its own key.');
    const { account, created } = await accounts.open(by.jwk, parseObject(payload, 'The payload'), {
      url,
      address: request.address,
    });
    const headers = ['Location', accountUrl(origin(), account.id)];
    return json(created ? 201 : 200, accountResource(origin(), account), headers);
  }

  async function accountAt(request: AcmeRequest, id: string, rest: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request);
    if (account.id !== id) throw new AcmeError('unauthorized', 'The URL belongs to another account.');
    const location = ['Location', accountUrl(origin(), id)];
    if (rest === '') {
      const changed = payload === '' ? account : accounts.update(account, parseObject(payload, 'The payload'));
      return json(200, accountResource(origin(), changed), location);
    }
    const after = new URLSearchParams(request.target.split('?')[1] ?? '').get('after');
    return ordersPage(parts, id, after);
  }

  async function newOrder(sent: AcmeRequest, profileOfUrl: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(sent);
    const request = readOrder(parseObject(payload, 'The payload'), profileOfUrl);
    Object.assign(sent.about ?? {}, { names: request.identifiers.map(({ value }) => value) });
    return orderAnswer(201, orders.create(account, request));
  }

  function orderAnswer(status: number, order: AcmeOrder): AcmeAnswer {
    const location = ['Location', orderUrl(origin(), order.id)];
    const retry = order.status === 'processing' ? ['Retry-After', String(POLL_SECONDS)] : [];
    return json(status, orderResource(origin(), order), [...location, ...retry]);
  }

  async function orderAt(request: AcmeRequest, id: string, rest: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request);
    const order = own(orders.get(id), account);
    Object.assign(request.about ?? {}, { orderId: id });
    if (rest === '') return orderAnswer(200, await orders.poll(order));
    const csr = base64urlOf(parseObject(payload, 'The payload'), 'csr');
    return orderAnswer(200, await orders.finalize(account, order, csr));
  }

  async function authorizationAt(request: AcmeRequest, id: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request);
    const found = own(authorizations.get(id), account);
    const given: Payload = payload === '' ? {} : parseObject(payload, 'The payload');
    if (given['status'] !== undefined && given['status'] !== 'deactivated') {
      throw malformed('The status of an authorization can be changed to "deactivated" only.');
    }
    const shown = given['status'] === undefined ? found : authorizations.deactivate(found);
    return json(200, authorizationResource(place(), shown), retryOf(shown));
  }

  async function challengeAt(request: AcmeRequest, id: string, type: string): Promise<AcmeAnswer> {
    const { payload, account } = await byAccount(request);
    const found = own(authorizations.get(id), account);
    if (!found.challenges.some((each) => each.type === type)) throw NOT_FOUND();
    if (payload !== '') parseObject(payload, 'The payload');
    const shown = payload === '' ? found : await authorizations.respond(account, found, type as AcmeMethod);
    const challenge = shown.challenges.find((each) => each.type === type);
    if (challenge === undefined) throw NOT_FOUND();
    const up = link(authorizationUrl(origin(), id), 'up');
    return json(200, challengeResource(place(), shown, challenge), [...up, ...retryOf(shown)]);
  }

  async function certificateAt(request: AcmeRequest, serial: string, rest: string): Promise<AcmeAnswer> {
    const { account } = await byAccount(request);
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

  async function revoke(request: AcmeRequest): Promise<AcmeAnswer> {
    const { payload, by } = await authenticate(request, 'both');
    const given = parseObject(payload, 'The payload');
    await certificates.revoke(base64urlOf(given, 'certificate'), given['reason'], by);
    return { status: 200, headers: [], body: null };
  }

  async function keyChange(request: AcmeRequest): Promise<AcmeAnswer> {
    const { url, payload, account } = await byAccount(request);
    const changed = await accounts.changeKey(account, payload, url);
    return json(200, accountResource(origin(), changed), ['Location', accountUrl(origin(), changed.id)]);
  }

  function renewalInfo(id: string): AcmeAnswer {
    const info = certificates.renewalInfo(id);
    return json(200, renewalResource(info), ['Retry-After', String(info.askAgain)]);
  }

  return {
    ...{ newAccount, accountAt, newOrder, orderAt, authorizationAt, challengeAt, certificateAt },
    ...{ revoke, keyChange, renewalInfo },
    /** The resources with their current state, for views. */
    views: { orders, authorizations, accounts },
  };
}

function readOrder(given: Payload, profileOfUrl: string): NewOrder {
  for (const name of ['notBefore', 'notAfter']) {
    if (given[name] !== undefined)
      throw malformed(`"${name}" is not supported; the profile determines how long certificates are valid.`);
  }
  return {
    identifiers: readIdentifiers(given['identifiers']),
    profile: textOf(given, 'profile') ?? profileOfUrl,
    replaces: textOf(given, 'replaces'),
  };
}

/** The orders of an account after one of them; the rest is behind a link (RFC 8555 §7.1.2.1). */
function ordersPage(
  { rows, origin }: Pick<AcmeParts, 'rows' | 'origin'>,
  id: string,
  after: string | null,
): AcmeAnswer {
  const found = rows.orders({ accountId: id, ...(after !== null && { after }), limit: ORDERS_LISTED + 1 });
  const listed = found.slice(0, ORDERS_LISTED);
  const next = `${accountUrl(origin(), id)}/orders?after=${listed.at(-1)?.id ?? ''}`;
  const more = found.length > listed.length ? link(next, 'next') : [];
  return json(200, { orders: listed.map((order) => orderUrl(origin(), order.id)) }, more);
}

const retryOf = ({ challenges }: AcmeAuthorization): string[] =>
  challenges.some(({ status }) => status === 'processing') ? ['Retry-After', String(POLL_SECONDS)] : [];

/** RFC 5280 §5.3.1: the codes that a client may give. */
const REASONS: ReadonlyMap<unknown, RevocationReason> = new Map([
  [0, 'unspecified'],
  [1, 'keyCompromise'],
  [3, 'affiliationChanged'],
  [4, 'superseded'],
  [5, 'cessationOfOperation'],
]);

function createCertificates({ clock, rows, issuer, faults, revocations, onChanged }: AcmeParts) {
  const holdsAll = (account: AcmeAccount, { identifiers }: AcmeCertificate): boolean => {
    const { now } = clock.state();
    return identifiers.every(({ value }) => (rows.lastValid(account.id, value)?.expiresAtMs ?? 0) > now);
  };

  /** @throws AcmeError malformed */
  function find(der: Buffer): { certificate: AcmeCertificate; parsed: X509Certificate } {
    let parsed: X509Certificate;
    try {
      parsed = new X509Certificate(der);
    } catch {
      throw malformed('"certificate" is not a DER-encoded certificate.');
    }
    const certificate = rows.certificate(parsed.serialNumber);
    if (certificate !== null && new X509Certificate(certificate.pem).raw.equals(der)) return { certificate, parsed };
    throw new AcmeError('malformed', 'This ACME server did not issue the certificate.', { status: 404 });
  }

  return {
    /** The leaf and the certificates above it, in PEM; chain 0 is the default. Null if the leaf has no such chain. */
    chain({ pem }: AcmeCertificate, chain: number): string | null {
      const after = issuer.chains(pem)[chain];
      return after === undefined ? null : [pem, ...after].join('');
    },
    chains: ({ pem }: AcmeCertificate): number => issuer.chains(pem).length,
    /** Requires the ordering account, one with authorizations for all names, or the leaf's key. @throws AcmeError */
    async revoke(der: Buffer, code: unknown, by: { account: AcmeAccount } | { jwk: PublicJwk }): Promise<void> {
      const { certificate, parsed } = find(der);
      const reason = REASONS.get(code ?? 0);
      if (reason === undefined) {
        throw new AcmeError('badRevocationReason', `The reason must be one of ${[...REASONS.keys()].join(', ')}.`);
      }
      const { serial, accountId, wireNotAfterMs } = certificate;
      const isAllowed =
        'account' in by
          ? by.account.id === accountId || holdsAll(by.account, certificate)
          : (await thumbprintOf(parsed.publicKey.export({ format: 'jwk' }) as PublicJwk)) ===
            (await thumbprintOf(by.jwk));
      if (!isAllowed) {
        throw new AcmeError(
          'unauthorized',
          'The request is signed neither by the account that ordered the certificate, nor by one with valid authorizations for all its names, nor by its key.',
        );
      }
      if (revocations.get(serial) !== null)
        throw new AcmeError('alreadyRevoked', 'The certificate is already revoked.');
      const { now, realNow } = clock.state();
      revocations.insert({ serial, reason, atMs: now, wireAtMs: realNow, wireNotAfterMs });
      onChanged();
    },
    /** The renewal window in real time, and the seconds until clients ask again. @throws AcmeError malformed */
    renewalInfo(text: string): Window & { askAgain: number } {
      const certificate = findCertificate(rows, text);
      if (certificate === null) {
        throw new AcmeError('malformed', 'No certificate has this identifier.', { status: 404 });
      }
      const state = clock.state();
      const names = certificate.identifiers.map(({ value }) => value);
      const revokedAtMs = revocations.get(certificate.serial)?.wireAtMs ?? null;
      const window = faults.renewalWindow(names, state.realNow) ?? wireWindow(certificate, state, revokedAtMs);
      return { ...window, askAgain: askAgainSeconds(certificate) };
    },
  };
}

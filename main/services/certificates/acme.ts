import type { Endpoint } from '../../acme/endpoint.ts';
import { describeOrder, explainOrder } from '../../acme/explain.ts';
import type { Answered } from '../../acme/outcome.ts';
import type { Rates } from '../../acme/rates.ts';
import type { Refusals } from '../../acme/problem.ts';
import { accountUrl } from '../../acme/resources.ts';
import type { AdjustableClock } from '../../base/clock.ts';
import { createExternalKeySecret, randomBase62 } from '../../base/secret.ts';
import { isWithin } from '../../base/text/hostname.ts';
import { mapInTurns } from '../../base/turns.ts';
import type {
  AcmeAccountInfo,
  AcmeExplanation,
  AcmeExternalKeyInfo,
  AcmeLimits,
  AcmeOrderInfo,
} from '../../contract/acme.ts';
import type { RevocationReason } from '../../contract/certificates.ts';
import { formatDuration } from '../../contract/duration.ts';
import { conflict, notFound } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import { resolve } from '../../domains/checks/resolution.ts';
import { apexOf } from '../../domains/public-suffix.ts';
import {
  type AcmeAccount,
  type AcmeCertificate,
  type AcmeExternalKey,
  type AcmeOrder,
  type AcmeRows,
  nameOf,
} from '../../model/acme.ts';
import type { DnsLookup } from '../../model/dns-lookup.ts';
import type { RevocationRows } from '../dependencies.ts';

const ACCOUNTS_LISTED = 1_000;
/** The number of orders that the store keeps. */
const ORDERS_MAX = 20_000;

/** External keys are never deleted, like the accounts that used them. */
const EXTERNAL_KEYS_MAX = 1_000;

export interface AcmeServer {
  /** The server, loaded on first use. */
  endpoint(): Promise<Pick<Endpoint, 'orders' | 'authorizations' | 'accounts'>>;
  rates: Pick<Rates, 'limits' | 'list' | 'reset'>;
  refusals: Pick<Refusals, 'list'>;
  origin(): string;
}

interface AcmeParts {
  rows: AcmeRows;
  server: AcmeServer;
  revocations: Pick<RevocationRows, 'get' | 'insert'>;
  clock: Pick<AdjustableClock, 'now' | 'state'>;
  enforced: () => boolean;
  changed: () => void;
}

export function createAcmeServices(options: AcmeParts): Services['acme'] {
  const { clock, rows, server, revocations, changed } = options;

  const describeAccount = ({ id, status, contact, createdAtMs }: AcmeAccount): AcmeAccountInfo => ({
    ...{ id, status, url: accountUrl(server.origin(), id) },
    ...{ contact: [...contact], createdAt: new Date(createdAtMs).toISOString() },
  });

  /** An order by its id or its URL. @throws VivariumError not_found */
  async function find(orderId: string): Promise<AcmeOrder> {
    const { orders } = await server.endpoint();
    const order = orders.get(lastPart(orderId));
    if (order !== null) return order;
    throw notFound(`There is no order "${orderId}". List them: \`acme.orders\`.`);
  }

  async function described(found: readonly AcmeOrder[]): Promise<AcmeOrderInfo[]> {
    const { orders } = await server.endpoint();
    return found.map((order) => {
      const isRevoked = order.serial !== undefined && revocations.get(order.serial) !== null;
      return describeOrder(orders.get(order.id) ?? order, isRevoked);
    });
  }

  /** Revokes the certificate of an order; false if that was done before. */
  function revoke({ serial, wireNotAfterMs }: AcmeCertificate, reason: RevocationReason): boolean {
    if (revocations.get(serial) !== null) return false;
    const { now, realNow } = clock.state();
    revocations.insert({ serial, reason, atMs: now, wireAtMs: realNow, wireNotAfterMs });
    return true;
  }

  const certificateOf = ({ serial }: AcmeOrder) => (serial === undefined ? null : rows.certificate(serial));

  async function explain(order: AcmeOrder): Promise<AcmeExplanation> {
    const { authorizations } = await server.endpoint();
    const certificate = certificateOf(order);
    return explainOrder(order, {
      account: rows.account(order.accountId),
      authorizations: order.authorizationIds.map(authorizations.get).filter((each) => each !== null),
      certificate,
      revocation: certificate === null ? null : revocations.get(certificate.serial),
      clock: clock.state(),
    });
  }

  return {
    accounts: () => rows.accounts(ACCOUNTS_LISTED).map(describeAccount),
    ...externalKeys(options),
    async deactivate({ accountId }) {
      const account = rows.account(lastPart(accountId));
      if (account === null) throw notFound(`There is no account "${accountId}". List them: \`acme.accounts\`.`);
      const { accounts } = await server.endpoint();
      const deactivated = accounts.update(account, { status: 'deactivated' });
      await rows.stored();
      return describeAccount(deactivated);
    },
    async orders(input) {
      const { accountId, search, state, after, limit = 100 } = input ?? {};
      const found = rows.orders({
        ...(accountId !== undefined && { accountId }),
        ...(search !== undefined && search !== '' && { search }),
        ...(state !== undefined && { in: { state, atMs: clock.state().now } }),
        ...(after !== undefined && { after }),
        limit,
      });
      return described(found);
    },
    explain: async ({ orderId }) => explain(await find(orderId)),
    async revoke({ orderId, reason }) {
      const order = await find(orderId);
      const certificate = certificateOf(order);
      if (certificate === null) throw conflict(`The order "${orderId}" has no certificate.`);
      if (!revoke(certificate, reason)) throw conflict(`The certificate ${certificate.serial} is already revoked.`);
      changed();
      return explain(order);
    },
    refusals: () =>
      server.refusals.list().map(({ atMs, names = [], ...refusal }) => ({
        ...{ at: new Date(atMs).toISOString(), ...refusal, names: [...names] },
      })),
    async revokeAll(input) {
      const { reason = 'unspecified' } = input ?? {};
      // Every call waits for the disk.
      const revoked = await mapInTurns(rows.orders({ limit: ORDERS_MAX }), 1, (order) => {
        const certificate = certificateOf(order);
        if (certificate === null || certificate.notAfterMs <= clock.state().now) return [];
        return revoke(certificate, reason) ? [order] : [];
      });
      if (revoked.flat().length > 0) changed();
      return described(revoked.flat());
    },
    async loseAuthorizations(input) {
      const { authorizations } = await server.endpoint();
      const wanted = input?.name?.toLowerCase();
      const lost = rows
        .accounts(ACCOUNTS_LISTED)
        .flatMap(({ id }) => rows.openAuthorizations({ accountId: id }))
        .filter((each) => authorizations.get(each.id)?.status === 'valid')
        .filter((each) => wanted === undefined || wanted === nameOf(each))
        .map((each) => ({ name: nameOf(authorizations.deactivate(each)), accountId: each.accountId }));
      await rows.stored();
      return lost;
    },
    limits: () => presentLimits(options),
    resetLimits() {
      server.rates.reset();
      changed();
      return presentLimits(options);
    },
  };
}

function presentLimits({ server, enforced }: AcmeParts): AcmeLimits {
  const used = server.rates.list();
  return {
    enforced: enforced(),
    limits: server.rates.limits().map(({ limit, what, rate }) => ({
      limit,
      what,
      count: rate.count,
      period: formatDuration(rate.periodMs),
      used: used
        .filter((each) => each.limit === limit)
        .map(({ of, left, fullAtMs }) => ({ of, left, fullAt: new Date(fullAtMs).toISOString() })),
    })),
  };
}

function externalKeys(
  options: AcmeParts,
): Pick<Services['acme'], 'externalKeys' | 'createExternalKey' | 'revokeExternalKey'> {
  const { rows, clock, changed } = options;
  return {
    externalKeys: () => rows.externalKeys(EXTERNAL_KEYS_MAX).map(describeExternalKey),
    async createExternalKey(input) {
      if (rows.externalKeys(EXTERNAL_KEYS_MAX).length >= EXTERNAL_KEYS_MAX) {
        throw conflict(`Vivarium keeps at most ${EXTERNAL_KEYS_MAX} external keys, and that limit is reached.`);
      }
      const secret = createExternalKeySecret();
      const key = { id: randomBase62(16), secret, name: input?.name ?? '', createdAtMs: clock.now() };
      rows.save({ externalKey: key });
      await rows.stored();
      changed();
      return { ...describeExternalKey(key), hmacKey: secret };
    },
    async revokeExternalKey({ id }) {
      const key = rows.externalKey(id);
      if (key === null) throw notFound(`There is no external key "${id}". List them: \`acme.externalKeys\`.`);
      const revoked = { ...key, revokedAtMs: key.revokedAtMs ?? clock.now() };
      rows.save({ externalKey: revoked });
      await rows.stored();
      changed();
      return describeExternalKey(revoked);
    },
  };
}

function describeExternalKey({ id, name, createdAtMs, accountId, revokedAtMs }: AcmeExternalKey): AcmeExternalKeyInfo {
  const state = revokedAtMs !== undefined ? 'revoked' : accountId === undefined ? 'free' : 'used';
  return {
    ...{ id, name, state, createdAt: new Date(createdAtMs).toISOString() },
    ...(accountId !== undefined && { accountId }),
  };
}

/** The resource id in a URL. */
const lastPart = (text: string): string => text.trim().split('/').at(-1) ?? '';

/** The DNS queries of validations, through one resolver. */
export function createAcmeDns(lookup: DnsLookup) {
  async function records(name: string, type: 'A' | 'AAAA' | 'TXT'): Promise<Answered> {
    const { end } = await resolve(lookup, name, type);
    const failed = (detail: string) => ({ ok: false, detail }) as const;
    switch (end.kind) {
      case 'records':
        return {
          ok: true,
          values: end.records.map(({ data }) => data.address ?? (data.strings ?? []).join('')),
          ttlSeconds: Math.min(...end.records.map(({ ttlSeconds = 0 }) => ttlSeconds)),
        };
      case 'outside':
        return failed(`${name} is in no local zone. Create one: vivarium zone create ${apexOf(name)}`);
      case 'failed':
        return failed(
          `The question for ${type} of ${name} failed: ${[end.reason, end.detail ?? []].flat().join(', ')}.`,
        );
      case 'loop':
        return failed(`The CNAME chain of ${name} is a loop.`);
      case 'too_long':
        return failed(`The CNAME chain of ${name} is too long.`);
      default:
        return { ok: true, values: [] };
    }
  }

  return {
    async addresses(hostname: string): Promise<Answered> {
      const [v6, v4] = await Promise.all([records(hostname, 'AAAA'), records(hostname, 'A')]);
      const values = [v6, v4].flatMap((answer) => (answer.ok ? answer.values : []));
      if (values.length > 0) return { ok: true, values };
      // RFC 6761 §6.3: these names always mean this machine.
      if (isWithin(hostname, 'localhost')) return { ok: true, values: ['::1', '127.0.0.1'] };
      return v4.ok ? v6 : v4;
    },
    texts: (name: string): Promise<Answered> => records(name, 'TXT'),
  };
}

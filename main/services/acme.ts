import type { AdjustableClock } from '../base/clock.ts';
import { describeOrder, explainOrder } from '../acme/explain.ts';
import type { Rates } from '../acme/rates.ts';
import { accountUrl } from '../acme/urls.ts';
import { randomBytes } from 'node:crypto';
import { randomBase62 } from '../base/secret.ts';
import type { AcmeExternalKeyInfo, AcmeLimits } from '../contract/acme.ts';
import { formatDuration } from '../contract/duration.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import type { AcmeAuthorization, AcmeExternalKey, AcmeOrder, AcmeRows } from '../model/acme.ts';
import type { RevocationRows } from './dependencies.ts';

const ACCOUNTS_LISTED = 1_000;

/** External keys are kept for good, as the accounts that they opened. */
const EXTERNAL_KEYS_MAX = 1_000;

export interface AcmeServer {
  /** Its resources with their state of now. */
  resources(): Promise<{
    get(id: string): AcmeOrder | null;
    authorization(id: string): AcmeAuthorization | null;
  }>;
  rates: Pick<Rates, 'limits' | 'list' | 'reset'>;
  origin(): string;
}

export function createAcmeServices(options: {
  rows: AcmeRows;
  server: AcmeServer;
  revocations: Pick<RevocationRows, 'get'>;
  clock: Pick<AdjustableClock, 'now' | 'state'>;
  enforced: () => boolean;
  changed: () => void;
}): Services['acme'] {
  const { clock, rows, server, revocations, enforced, changed } = options;

  const presentLimits = (): AcmeLimits => {
    const used = server.rates.list();
    return {
      enforced: enforced(),
      limits: server.rates.limits().map(({ limit, rate }) => ({
        limit,
        count: rate.count,
        period: formatDuration(rate.periodMs),
        used: used
          .filter((each) => each.limit === limit)
          .map(({ of, left, fullAtMs }) => ({ of, left, fullAt: new Date(fullAtMs).toISOString() })),
      })),
    };
  };

  return {
    accounts: () =>
      rows.accounts(ACCOUNTS_LISTED).map(({ id, status, contact, createdAtMs }) => ({
        ...{ id, status, url: accountUrl(server.origin(), id) },
        ...{ contact: [...contact], createdAt: new Date(createdAtMs).toISOString() },
      })),
    externalKeys: () => rows.externalKeys(EXTERNAL_KEYS_MAX).map(describeExternalKey),
    async createExternalKey(input) {
      if (rows.externalKeys(EXTERNAL_KEYS_MAX).length >= EXTERNAL_KEYS_MAX) {
        throw new VivariumError(
          'conflict',
          `There are ${EXTERNAL_KEYS_MAX} external keys already, as many as are kept.`,
        );
      }
      const secret = randomBytes(32).toString('base64url');
      const key = { id: randomBase62(16), secret, name: input?.name ?? '', createdAtMs: clock.now() };
      rows.save({ externalKey: key });
      await rows.stored();
      changed();
      return { ...describeExternalKey(key), hmacKey: secret };
    },
    async revokeExternalKey({ id }) {
      const key = rows.externalKey(id);
      if (key === null) {
        throw new VivariumError('not_found', `There is no external key "${id}". List them: \`acme.externalKeys\`.`);
      }
      const revoked = { ...key, revokedAtMs: key.revokedAtMs ?? clock.now() };
      rows.save({ externalKey: revoked });
      await rows.stored();
      changed();
      return describeExternalKey(revoked);
    },
    async orders(input) {
      const { accountId, limit = 100 } = input ?? {};
      const { get } = await server.resources();
      const found = rows.orders({ ...(accountId !== undefined && { accountId }), limit });
      return found.map((order) => describeOrder(get(order.id) ?? order));
    },
    async explain({ orderId }) {
      const { get, authorization } = await server.resources();
      const order = get(orderId.trim().split('/').at(-1) ?? '');
      if (order === null) {
        throw new VivariumError('not_found', `There is no order "${orderId}". List them: \`acme.orders\`.`);
      }
      const certificate = order.serial === undefined ? null : rows.certificate(order.serial);
      return explainOrder(order, {
        account: rows.account(order.accountId),
        authorizations: order.authorizationIds.map(authorization).filter((each) => each !== null),
        certificate,
        revocation: certificate === null ? null : revocations.get(certificate.serial),
        clock: clock.state(),
      });
    },
    limits: presentLimits,
    resetLimits() {
      server.rates.reset();
      changed();
      return presentLimits();
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

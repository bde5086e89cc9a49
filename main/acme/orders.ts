import type { EpochMs } from '../base/clock.ts';
import { randomBase62 } from '../base/secret.ts';
import { HOUR_MS } from '../contract/duration.ts';
import {
  nameOf,
  type AcmeAccount,
  type AcmeAuthorization,
  type AcmeFault,
  type AcmeIdentifier,
  type AcmeOrder,
} from '../model/acme.ts';
import type { LeafDates } from '../model/leaf.ts';
import { PENDING_MS, type Authorizations } from './authorizations.ts';
import { namesFault, problemOf } from './identifiers.ts';
import { thumbprintOf } from './jws.ts';
import { stepOrder } from './machines.ts';
import type { AcmeParts, CertificateRequest } from './parts.ts';
import { AcmeError, faultOf, malformed } from './problem.ts';
import { findProfile, type Profile } from './profiles.ts';
import { blockOf, type Counted } from './rates.ts';
import { findCertificate, wireWindow } from './renewal-info.ts';

const BACKDATE_MS_MAX = HOUR_MS;

/** Maximum orders that a break delays; CSRs beyond it are answered as usual. */
const HELD_MAX = 1_000;

/** An order delayed by a break; after a restart it is ready to be finalised again. */
interface Held {
  /** In real time; null: until the break ends. */
  atMs: EpochMs | null;
  resume: () => Promise<AcmeOrder>;
}

export interface Orders {
  /** @throws AcmeError */
  create(account: AcmeAccount, request: NewOrder): AcmeOrder;
  /** With its current state; null if it does not exist. */
  get(id: string): AcmeOrder | null;
  /** @throws AcmeError badCSR, caa, orderNotReady */
  finalize(account: AcmeAccount, order: AcmeOrder, csr: Buffer): Promise<AcmeOrder>;
  /** An order that a client polls; issues its certificate if a break delayed it until now. */
  poll(order: AcmeOrder): Promise<AcmeOrder>;
}

export interface NewOrder {
  identifiers: readonly AcmeIdentifier[];
  profile: string;
  /** A certificate's identifier, as in its renewal-info URL. */
  replaces: string | null;
}

export function createOrders(parts: AcmeParts, authorizations: Authorizations): Orders {
  const { clock, rows, issuer, rates, faults, onChanged } = parts;
  /** Orders whose CSR is being processed. */
  const finalizing = new Set<string>();
  /** Those whose issuance a break delays, by id. */
  const held = new Map<string, Held>();
  const now = (): number => clock.state().now;

  function create(account: AcmeAccount, { identifiers, profile: profileName, replaces }: NewOrder): AcmeOrder {
    const profile = profileOf(profileName);
    const names = identifiers.map(({ value }) => value);
    faults.profile(profileName, names);
    const refused = identifiers.flatMap((identifier) => {
      const detail = issuer.refusal(identifier);
      return detail === null ? [] : [{ identifier, detail }];
    });
    if (refused.length > 0) throw problemOf('rejectedIdentifier', refused);
    if (replaces !== null) checkReplaced(account, replaces, identifiers);
    const ordered: Counted[] = [{ limit: 'newOrders', of: account.id }];
    const failures = identifiers.map(({ value }) => `${account.id} ${value}`);
    const paused = failures.map((of): Counted => ({ limit: 'consecutiveFailures', of }));
    faults.limit(paused, names);
    rates.check(paused);
    if (!isRenewal(replaces)) {
      const failed = failures.map((of): Counted => ({ limit: 'failedValidations', of }));
      const counted = [...ordered, ...certificatesOf(identifiers), ...failed];
      faults.limit(counted, names);
      rates.check(counted);
      rates.count(ordered);
    }
    const createdAtMs = now();
    const found = identifiers.map((identifier) =>
      authorizations.reusableOrNew(account, identifier, profile.authorizationMs),
    );
    const order: AcmeOrder = {
      id: randomBase62(16),
      accountId: account.id,
      profile: profileName,
      status: 'pending',
      identifiers,
      authorizationIds: found.map(({ id }) => id),
      createdAtMs,
      expiresAtMs: Math.min(
        createdAtMs + Math.max(PENDING_MS, profile.authorizationMs),
        ...found.map(({ expiresAtMs }) => expiresAtMs),
      ),
      ...(replaces !== null && { replaces }),
    };
    rows.save({ orders: [order], authorizations: found.filter(({ status }) => status === 'pending') });
    onChanged();
    return stateOf(order);
  }

  /** @throws AcmeError malformed, unauthorized, alreadyReplaced (RFC 9773 §5) */
  function checkReplaced(account: AcmeAccount, text: string, identifiers: readonly AcmeIdentifier[]): void {
    const certificate = findCertificate(rows, text);
    if (certificate === null) {
      throw malformed('"replaces" is not a certificate of this CA.');
    }
    if (certificate.accountId !== account.id) {
      throw new AcmeError('unauthorized', 'The certificate in "replaces" belongs to another account.');
    }
    const names = new Set(identifiers.map(({ value }) => value));
    if (!certificate.identifiers.some(({ value }) => names.has(value))) {
      throw malformed('The certificate in "replaces" has none of the identifiers of this order.');
    }
    if (certificate.replacedBy !== undefined) {
      throw new AcmeError(
        'alreadyReplaced',
        `The order ${certificate.replacedBy} has replaced the certificate already.`,
      );
    }
  }

  /**
   * Whether an order renews a certificate whose renewal is due; then no limit applies (RFC 9773 §5; Let’s Encrypt).
   */
  function isRenewal(replaces: string | null): boolean {
    const certificate = replaces === null ? null : findCertificate(rows, replaces);
    if (certificate === null) return false;
    const state = clock.state();
    const { startMs, endMs } = wireWindow(
      certificate,
      state,
      parts.revocations.get(certificate.serial)?.wireAtMs ?? null,
    );
    return startMs <= state.realNow && state.realNow < endMs;
  }

  function certificatesOf(identifiers: readonly AcmeIdentifier[]): Counted[] {
    const names = identifiers.map(({ value }) => value).sort();
    const domains = new Set(
      identifiers.map(({ type, value }) =>
        type === 'dns' ? parts.registeredDomain(value.replace(/^\*\./, '')) : (blockOf(value, 64) ?? value),
      ),
    );
    return [
      ...[...domains].map((of): Counted => ({ limit: 'certificatesPerDomain', of })),
      { limit: 'certificatesPerSet', of: names.join(' ') },
    ];
  }

  function get(id: string): AcmeOrder | null {
    const order = rows.order(id);
    return order === null ? null : stateOf(order);
  }

  /** The states ready and processing are derived, and not written. */
  function stateOf(order: AcmeOrder): AcmeOrder {
    if (order.status !== 'pending') return order;
    const found = order.authorizationIds.map(authorizations.get);
    const lost = found.find((each) => each === null || (each.status !== 'pending' && each.status !== 'valid'));
    if (lost !== undefined) return save({ ...order, status: stepOrder(order.status, 'failed'), error: reasonOf(lost) });
    if (order.expiresAtMs <= now()) {
      const error = { type: 'malformed', detail: 'The order expired before it was finalized.', status: 403 };
      return save({ ...order, status: stepOrder(order.status, 'expire'), error });
    }
    if (found.some((each) => each?.status !== 'valid')) return order;
    const ready = stepOrder(order.status, 'authorized');
    return { ...order, status: finalizing.has(order.id) ? stepOrder(ready, 'finalize') : ready };
  }

  function save(order: AcmeOrder): AcmeOrder {
    rows.save({ orders: [order] });
    onChanged();
    return order;
  }

  async function finalize(account: AcmeAccount, order: AcmeOrder, csr: Buffer): Promise<AcmeOrder> {
    stepOrder(order.status, 'finalize');
    const request = await readCsr(account, order, csr);
    // Another request may have been first.
    const status = stepOrder(stateOf(rows.order(order.id) ?? order).status, 'finalize');
    finalizing.add(order.id);
    const resume = async (): Promise<AcmeOrder> => {
      try {
        await authorizations.recheckCaa(account, order.authorizationIds);
        return issue({ ...order, status }, request);
      } catch (error) {
        if (error instanceof AcmeError && error.type === 'caa') {
          save({ ...order, status: stepOrder(status, 'failed'), error: faultOf(error) });
        }
        throw error;
      } finally {
        finalizing.delete(order.id);
      }
    };
    const afterMs = held.size < HELD_MAX ? faults.issuesAfterMs(order.identifiers.map(({ value }) => value)) : 0;
    if (afterMs === 0) return await resume();
    held.set(order.id, { atMs: afterMs === Infinity ? null : clock.state().realNow + afterMs, resume });
    return { ...order, status };
  }

  async function poll(order: AcmeOrder): Promise<AcmeOrder> {
    const waiting = held.get(order.id);
    if (waiting === undefined) return order;
    const isHeld =
      waiting.atMs === null
        ? faults.isStuck(order.identifiers.map(({ value }) => value))
        : clock.state().realNow < waiting.atMs;
    if (isHeld) return order;
    held.delete(order.id);
    try {
      return await waiting.resume();
    } catch (error) {
      if (error instanceof AcmeError) return get(order.id) ?? order;
      throw error;
    }
  }

  async function readCsr({ thumbprint }: AcmeAccount, order: AcmeOrder, csr: Buffer): Promise<CertificateRequest> {
    const bad = (why: string) => new AcmeError('badCSR', `The CSR is refused. ${why}`);
    let request: CertificateRequest;
    try {
      request = parts.readRequest(csr);
    } catch (error) {
      throw bad(error instanceof Error ? error.message : String(error));
    }
    const fault = namesFault(order.identifiers, request);
    if (fault !== null) throw bad(fault);
    const jwk = request.publicKey.export({ format: 'jwk' }) as Record<string, string>;
    if ((await thumbprintOf(jwk)) === thumbprint)
      throw bad('Its key is that of the account; it must have a separate one.');
    return request;
  }

  /** Signs, and writes the certificate and the order in one transaction. */
  function issue(order: AcmeOrder, { publicKey }: CertificateRequest): AcmeOrder {
    const names = order.identifiers.map(({ value }) => value);
    const state = clock.state();
    const notAfterMs = Math.min(issuer.notAfterMs(), faults.rootEndsAtMs(names, state.realNow));
    const dates = datesOf(profileOf(order.profile), state, notAfterMs);
    const { serial, pem } = issuer.issue({ publicKey, names, dates });
    const { id: orderId, accountId, identifiers } = order;
    const issued: AcmeOrder = { ...order, status: stepOrder(order.status, 'issue'), serial };
    const issuerKey = issuer.keyIdentifier();
    const certificate = { ...dates, serial, accountId, orderId, identifiers, pem, issuerKey };
    const replaced = order.replaces === undefined ? null : findCertificate(rows, order.replaces);
    if (!isRenewal(order.replaces ?? null)) rates.count(certificatesOf(identifiers));
    const marked = replaced === null ? [] : [{ ...replaced, replacedBy: orderId }];
    rows.save({ orders: [issued], certificates: [certificate, ...marked] });
    onChanged();
    return issued;
  }

  return {
    create,
    get,
    finalize,
    poll,
  };
}

/** @throws AcmeError invalidProfile */
function profileOf(name: string): Profile {
  const profile = findProfile(name);
  if (profile !== undefined) return profile;
  throw new AcmeError('invalidProfile', `There is no profile ${JSON.stringify(name)}; the directory lists them.`);
}

/** Why an authorization invalidated its order. */
function reasonOf(authorization: AcmeAuthorization | null): AcmeFault {
  const detail =
    authorization === null
      ? 'An authorization of the order is no longer stored.'
      : `The authorization for ${nameOf(authorization)} is ${authorization.status}.`;
  return (
    authorization?.challenges.find(({ error }) => error !== undefined)?.error ?? {
      type: 'unauthorized',
      ...{ detail, status: 403 },
    }
  );
}

/** In whole seconds on both clocks; backdated for clients with slow clocks, but by little for a short lifetime. */
function datesOf(
  { lifetimeMs, wireLifetimeMs = lifetimeMs }: Profile,
  { now, realNow }: { now: number; realNow: number },
  notAfterMs: number,
): LeafDates {
  const seconds = (ms: number) => Math.floor(ms / 1000) * 1000;
  const backdateMs = Math.min(BACKDATE_MS_MAX, wireLifetimeMs / 90);
  return {
    notBeforeMs: seconds(now - backdateMs),
    notAfterMs: seconds(now + lifetimeMs),
    wireNotBeforeMs: seconds(realNow - backdateMs),
    wireNotAfterMs: seconds(Math.min(realNow + wireLifetimeMs, notAfterMs)),
  };
}

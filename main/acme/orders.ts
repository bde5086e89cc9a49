import type { EpochMs } from '../base/clock.ts';
import { randomBase62 } from '../base/secret.ts';
import { nameOf } from '../model/acme.ts';
import type { AcmeAccount, AcmeAuthorization, AcmeFault, AcmeIdentifier, AcmeOrder, AcmeRows } from '../model/acme.ts';
import { PENDING_MS, type Authorizations } from './authorizations.ts';
import { problemOf } from './identifiers.ts';
import { createIssuance, profileOf } from './issuance.ts';
import { stepOrder } from './resources.ts';
import type { AcmeParts } from './parts.ts';
import { AcmeError, faultOf, malformed } from './problem.ts';
import { findCertificate } from './profiles.ts';

/** Maximum orders that a break delays; CSRs beyond it are answered as usual. */
const HELD_MAX = 1_000;

export interface NewOrder {
  identifiers: readonly AcmeIdentifier[];
  profile: string;
  /** A certificate's identifier, as in its renewal-info URL. */
  replaces: string | null;
}

export function createOrders(parts: AcmeParts, authorizations: Authorizations) {
  const { clock, rows, issuer, faults, onChanged } = parts;
  /** Orders whose CSR is being processed. */
  const finalizing = new Set<string>();
  /** Those whose issuance a break delays, by id: until `atMs` in real time, or until it ends. A restart forgets them. */
  const held = new Map<string, { atMs: EpochMs | null; resume: () => Promise<AcmeOrder> }>();
  const now = (): number => clock.state().now;
  const { admit, readCsr, issue } = createIssuance(parts);

  /** @throws AcmeError */
  function create(account: AcmeAccount, { identifiers, profile: profileName, replaces }: NewOrder): AcmeOrder {
    const profile = profileOf(profileName);
    const names = identifiers.map(({ value }) => value);
    faults.profile(profileName, names);
    const refused = identifiers.flatMap((identifier) => {
      const detail = issuer.refusal(identifier);
      return detail === null ? [] : [{ identifier, detail }];
    });
    if (refused.length > 0) throw problemOf('rejectedIdentifier', refused);
    if (replaces !== null) checkReplaced(rows, account, replaces, identifiers);
    admit(account, identifiers, replaces);
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

  /** With its current state; null if it does not exist. */
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

  /** @throws AcmeError badCSR, caa, orderNotReady */
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

  /** An order that a client polls; issues its certificate if a break delayed it until now. */
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

  return { create, get, finalize, poll };
}

/** @throws AcmeError malformed, unauthorized, alreadyReplaced (RFC 9773 §5) */
function checkReplaced(
  rows: Pick<AcmeRows, 'certificate'>,
  account: AcmeAccount,
  text: string,
  identifiers: readonly AcmeIdentifier[],
): void {
  const certificate = findCertificate(rows, text);
  if (certificate === null) throw malformed('"replaces" is not a certificate of this CA.');
  if (certificate.accountId !== account.id) {
    throw new AcmeError('unauthorized', 'The certificate in "replaces" belongs to another account.');
  }
  const names = new Set(identifiers.map(({ value }) => value));
  if (!certificate.identifiers.some(({ value }) => names.has(value))) {
    throw malformed('The certificate in "replaces" has none of the identifiers of this order.');
  }
  if (certificate.replacedBy !== undefined) {
    throw new AcmeError('alreadyReplaced', `The order ${certificate.replacedBy} has replaced the certificate already.`);
  }
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

import { messageOf } from '../base/error-code.ts';
import { HOUR_MS } from '../contract/duration.ts';
import type { AcmeAccount, AcmeIdentifier, AcmeOrder } from '../model/acme.ts';
import type { LeafDates } from '../model/leaf.ts';
import { namesFault } from './identifiers.ts';
import { thumbprintOf } from './jws.ts';
import { stepOrder } from './resources.ts';
import type { AcmeParts, CertificateRequest } from './parts.ts';
import { AcmeError } from './problem.ts';
import { findProfile, type Profile, findCertificate, wireWindow } from './profiles.ts';
import { blockOf, type Counted } from './rates.ts';

const BACKDATE_MS_MAX = HOUR_MS;

/** From an order and its CSR to a certificate. */
export function createIssuance(parts: AcmeParts) {
  const { clock, rows, issuer, rates, faults, onChanged } = parts;

  /** Whether an order renews a certificate whose renewal is due; then no limit applies (RFC 9773 §5; Let’s Encrypt). */
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

  /** The limits that a certificate for these identifiers uses up. */
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
  /** Applies the limits to a new order, and counts it. @throws AcmeError rateLimited */
  function admit(account: AcmeAccount, identifiers: readonly AcmeIdentifier[], replaces: string | null): void {
    const names = identifiers.map(({ value }) => value);
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
  }

  async function readCsr({ thumbprint }: AcmeAccount, order: AcmeOrder, csr: Buffer): Promise<CertificateRequest> {
    const bad = (why: string) => new AcmeError('badCSR', `The CSR is refused. ${why}`);
    let request: CertificateRequest;
    try {
      request = parts.readRequest(csr);
    } catch (error) {
      throw bad(messageOf(error));
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
  return { admit, readCsr, issue };
}

/** @throws AcmeError invalidProfile */
export function profileOf(name: string): Profile {
  const profile = findProfile(name);
  if (profile !== undefined) return profile;
  throw new AcmeError('invalidProfile', `There is no profile ${JSON.stringify(name)}; the directory lists them.`);
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

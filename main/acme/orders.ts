import type { EpochMs } from '../base/clock.ts';
import { randomBase62 } from '../base/secret.ts';
import { createTurns } from '../base/turns.ts';
import { DAY_MS, HOUR_MS } from '../contract/duration.ts';
import { isWildcard } from '../contract/wildcards.ts';
import {
  ACME_METHODS,
  nameOf,
  type AcmeAccount,
  type AcmeAuthorization,
  type AcmeChallenge,
  type AcmeFault,
  type AcmeIdentifier,
  type AcmeMethod,
  type AcmeOrder,
} from '../model/acme.ts';
import type { LeafDates } from '../model/leaf.ts';
import { namesFault, problemOf } from './identifiers.ts';
import { thumbprintOf } from './jws.ts';
import { stepAuthorization, stepChallenge, stepOrder } from './machines.ts';
import type { AcmeParts, CertificateRequest } from './parts.ts';
import { AcmeError, faultOf, malformed } from './problem.ts';
import { CAA_VALID_MS, findProfile, type Profile } from './profiles.ts';
import { blockOf, type Counted } from './rates.ts';
import { keptVerdict } from './kept-verdict.ts';
import { findCertificate, wireWindow } from './renewal-info.ts';
import { accountUrl } from './urls.ts';

/** How long an order, and an authorisation without an answer, wait for their client. */
const PENDING_MS = 7 * DAY_MS;

/** Validations at the same time, and those that wait for one. */
const VALIDATIONS_MAX = 64;
const WAITING_MAX = 20_000;

/** Real milliseconds for which the answer to a client waits for the validation: most take less, and need no poll then. */
const ANSWER_WITHIN_MS = 300;

const BACKDATE_MS_MAX = HOUR_MS;

/** Orders that a break holds up at once; the CSRs of further ones are answered as always. */
const HELD_MAX = 1_000;

/** An order that waits for a break; lost at the end of the engine, and then ready to be finalised again. */
interface Held {
  /** Real time; null for the end of the break. */
  atMs: EpochMs | null;
  goOn: () => Promise<AcmeOrder>;
}

export interface Orders {
  /** @throws AcmeError */
  create(account: AcmeAccount, request: NewOrder): AcmeOrder;
  /** With its state of now; null for one that is not there. */
  get(id: string): AcmeOrder | null;
  authorization(id: string): AcmeAuthorization | null;
  deactivate(authorization: AcmeAuthorization): AcmeAuthorization;
  /** Validates, if that is not done or under way. Resolves when it is done, or with `processing` if it takes long. */
  respond(account: AcmeAccount, authorization: AcmeAuthorization, method: AcmeMethod): Promise<AcmeAuthorization>;
  /** @throws AcmeError badCSR, caa, orderNotReady */
  finalize(account: AcmeAccount, order: AcmeOrder, csr: Buffer): Promise<AcmeOrder>;
  /** The order that a client looks at; issues what a break has held up until now. */
  poll(order: AcmeOrder): Promise<AcmeOrder>;
}

export interface NewOrder {
  identifiers: readonly AcmeIdentifier[];
  profile: string;
  /** A certificate's identifier, as in its renewal-info URL. */
  replaces: string | null;
}

export function createOrders(parts: AcmeParts): Orders {
  const { clock, log, rows, issuer, rates, faults, onChanged } = parts;
  const turns = createTurns(VALIDATIONS_MAX);
  /** Orders whose CSR is being answered. */
  const finalizing = new Set<string>();
  /** Those among them whose issuance a break holds up, by id. */
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
    const found = identifiers.map(
      (identifier) =>
        reusable(account, identifier) ?? newAuthorization(account.id, identifier, createdAtMs, profile.authorizationMs),
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

  function reusable(account: AcmeAccount, { value }: AcmeIdentifier): AcmeAuthorization | null {
    const last = rows.lastValid(account.id, value);
    if (last === null || Math.min(last.expiresAtMs, last.reusableUntilMs ?? Infinity) <= now()) return null;
    return faults.forgets(value) ? null : last;
  }

  /** @throws AcmeError malformed, unauthorized, alreadyReplaced (RFC 9773 §5) */
  function checkReplaced(account: AcmeAccount, text: string, identifiers: readonly AcmeIdentifier[]): void {
    const certificate = findCertificate(rows, text);
    if (certificate === null) {
      throw malformed('"replaces" names no certificate of this CA.');
    }
    if (certificate.accountId !== account.id) {
      throw new AcmeError('unauthorized', 'The certificate in "replaces" is one of another account.');
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

  /** Whether an order renews a certificate whose renewal is due: no limit counts then (RFC 9773 §5, as Let’s Encrypt). */
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

  function authorization(id: string): AcmeAuthorization | null {
    const found = rows.authorization(id);
    if (found === null || found.expiresAtMs > now()) return found;
    const status = stepAuthorization(found.status, 'expire');
    if (status === found.status) return found;
    const expired = { ...found, status };
    rows.save({ authorizations: [expired] });
    return expired;
  }

  function get(id: string): AcmeOrder | null {
    const order = rows.order(id);
    return order === null ? null : stateOf(order);
  }

  /** Ready and processing follow from the rest, and are not written. */
  function stateOf(order: AcmeOrder): AcmeOrder {
    if (order.status !== 'pending') return order;
    const found = order.authorizationIds.map(authorization);
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

  async function respond(
    { id: accountId, thumbprint }: AcmeAccount,
    given: AcmeAuthorization,
    method: AcmeMethod,
  ): Promise<AcmeAuthorization> {
    const challenge = given.challenges.find(({ type }) => type === method);
    if (challenge === undefined) throw malformed(`The authorization has no challenge "${method}".`);
    if (given.status !== 'pending' || challenge.status !== 'pending') return given;
    if (turns.waiting() >= WAITING_MAX) {
      throw new AcmeError('rateLimited', `More than ${WAITING_MAX} validations are waiting. Try again in a minute.`);
    }
    const responded = withChallenge(given, { ...challenge, status: stepChallenge(challenge.status, 'respond') });
    rows.save({ authorizations: [responded] });
    onChanged();
    const done = run(responded, method, { accountId, thumbprint });
    await Promise.race([done, new Promise<void>((resolve) => clock.realTimer(ANSWER_WITHIN_MS, resolve))]);
    return rows.authorization(given.id) ?? responded;
  }

  /** Validates, and writes the result. Must not reject. */
  function run(
    { id, identifier, wildcard, token }: AcmeAuthorization,
    method: AcmeMethod,
    by: { accountId: string; thumbprint: string },
  ): Promise<void> {
    const work = turns.take(async () => {
      const { attempts, error, reuseMs } = await parts.validate(method, {
        ...{ identifier, wildcard, token, accountUri: accountUrl(parts.origin(), by.accountId) },
        keyAuthorization: `${token}.${by.thumbprint}`,
      });
      const name = nameOf({ identifier, wildcard });
      const gate = error === null ? await askCaa(name, identifier, method, by.accountId) : null;
      const result = { attempts, error: error ?? gate?.error ?? null, caa: gate?.caa ?? null };
      finish(id, method, { ...result, ...(reuseMs !== undefined && { reuseMs }) });
    });
    const done = work
      .catch((error: unknown) => {
        log.error('An ACME validation failed', { error });
        const detail = 'The validation could not be done; the log has the reason.';
        finish(id, method, { attempts: [], error: new AcmeError('serverInternal', detail), caa: null });
      })
      .catch((error: unknown) => log.error('The result of an ACME validation could not be written', { error }));
    return done;
  }

  function finish(
    id: string,
    method: AcmeMethod,
    result: {
      attempts: AcmeChallenge['attempts'];
      error: AcmeError | null;
      caa: AcmeAuthorization['caa'] | null;
      reuseMs?: number;
    },
  ): void {
    // It may have been deactivated, or have expired, meanwhile.
    const found = authorization(id);
    const challenge = found?.challenges.find(({ type }) => type === method);
    if (found === null || challenge === undefined) return;
    const { attempts, error, caa, reuseMs } = result;
    const of = `${found.accountId} ${nameOf(found)}`;
    if (error === null) rates.forget([{ limit: 'consecutiveFailures', of }]);
    else
      rates.count([
        { limit: 'failedValidations', of },
        { limit: 'consecutiveFailures', of },
      ]);
    const status = stepChallenge(challenge.status, error === null ? 'validated' : 'failed');
    const atMs = now();
    const answered = withChallenge(found, {
      ...{ ...challenge, status, attempts },
      ...(error === null ? { validatedAtMs: atMs } : { error: faultOf(error) }),
    });
    rows.save({
      authorizations: [
        {
          ...answered,
          status: stepAuthorization(found.status, error === null ? 'validated' : 'failed'),
          ...(error === null && { expiresAtMs: atMs + found.validForMs }),
          ...(error === null && reuseMs !== undefined && { reusableUntilMs: atMs + reuseMs }),
          ...(caa !== null && { caa }),
        },
      ],
    });
    onChanged();
  }

  async function askCaa(name: string, { type }: AcmeIdentifier, method: AcmeMethod, accountId: string) {
    if (type === 'ip') return { error: null, caa: null };
    const verdict = await parts.askCaa({ name, method, accountUri: accountUrl(parts.origin(), accountId) });
    const caa = { atMs: now(), message: verdict.message, verdict: keptVerdict(verdict) };
    if (verdict.verdict === 'allowed') return { error: null, caa };
    return { error: new AcmeError('caa', `${verdict.message} ${verdict.change}`.trim()), caa };
  }

  async function finalize(account: AcmeAccount, order: AcmeOrder, csr: Buffer): Promise<AcmeOrder> {
    stepOrder(order.status, 'finalize');
    const request = await readCsr(account, order, csr);
    // Another request may have been faster.
    const status = stepOrder(stateOf(rows.order(order.id) ?? order).status, 'finalize');
    finalizing.add(order.id);
    const goOn = async (): Promise<AcmeOrder> => {
      try {
        await recheckCaa(account, order);
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
    if (afterMs === 0) return await goOn();
    held.set(order.id, { atMs: afterMs === Infinity ? null : clock.state().realNow + afterMs, goOn });
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
      return await waiting.goOn();
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
    if ((await thumbprintOf(jwk)) === thumbprint) throw bad('Its key is that of the account; it needs one of its own.');
    return request;
  }

  /** Asks again where the last answer is too old. @throws AcmeError caa */
  async function recheckCaa(account: AcmeAccount, order: AcmeOrder): Promise<void> {
    for (const id of order.authorizationIds) {
      const found = authorization(id);
      if (found?.status !== 'valid')
        throw new AcmeError('orderNotReady', 'An authorization of the order is not valid any longer.');
      if (found.identifier.type === 'ip' || (found.caa?.atMs ?? 0) > now() - CAA_VALID_MS) continue;
      const method = found.challenges.find(({ status }) => status === 'valid')?.type ?? 'http-01';
      const { error, caa } = await askCaa(nameOf(found), found.identifier, method, account.id);
      rows.save({ authorizations: [{ ...found, ...(caa !== null && { caa }) }] });
      if (error !== null) throw error;
    }
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

  // After a crash: what was under way goes on.
  for (const each of rows.openAuthorizations('processing')) {
    const account = rows.account(each.accountId);
    const challenge = each.challenges.find(({ status }) => status === 'processing');
    if (account === null || challenge === undefined) continue;
    void run(each, challenge.type, { accountId: account.id, thumbprint: account.thumbprint });
  }

  return {
    create,
    get,
    authorization,
    deactivate(given) {
      const deactivated = { ...given, status: stepAuthorization(given.status, 'deactivate') };
      rows.save({ authorizations: [deactivated] });
      onChanged();
      return deactivated;
    },
    respond,
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

function newAuthorization(
  accountId: string,
  { type, value }: AcmeIdentifier,
  createdAtMs: number,
  validForMs: number,
): AcmeAuthorization {
  const wildcard = isWildcard(value);
  const identifier = { type, value: wildcard ? value.slice(2) : value };
  const methods = ACME_METHODS.filter((method) => (method.startsWith('dns-') ? type === 'dns' : !wildcard));
  return {
    id: randomBase62(16),
    ...{ accountId, identifier, wildcard, createdAtMs, validForMs },
    status: 'pending',
    expiresAtMs: createdAtMs + PENDING_MS,
    token: randomBase62(32),
    challenges: methods.map((method) => ({ type: method, status: 'pending', attempts: [] })),
  };
}

const withChallenge = (authorization: AcmeAuthorization, challenge: AcmeChallenge): AcmeAuthorization => ({
  ...authorization,
  challenges: authorization.challenges.map((each) => (each.type === challenge.type ? challenge : each)),
});

/** Why an authorisation ended its order. */
function reasonOf(authorization: AcmeAuthorization | null): AcmeFault {
  const detail =
    authorization === null
      ? 'An authorization of the order is not kept any longer.'
      : `The authorization for ${nameOf(authorization)} is ${authorization.status}.`;
  return (
    authorization?.challenges.find(({ error }) => error !== undefined)?.error ?? {
      type: 'unauthorized',
      ...{ detail, status: 403 },
    }
  );
}

/** On both clocks, in whole seconds; backdated for clients with slow clocks, but little of a short life. */
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

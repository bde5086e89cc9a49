import { randomBase62 } from '../base/secret.ts';
import { createTurns } from '../base/turns.ts';
import { DAY_MS } from '../contract/duration.ts';
import { isWildcard } from '../contract/hostnames.ts';
import { ACME_METHODS, nameOf } from '../model/acme.ts';
import type { AcmeAccount, AcmeAuthorization, AcmeChallenge, AcmeIdentifier, AcmeMethod } from '../model/acme.ts';
import { keptVerdict } from './explain.ts';
import { stepAuthorization, stepChallenge, accountUrl } from './resources.ts';
import type { AcmeParts } from './parts.ts';
import { AcmeError, faultOf, malformed } from './problem.ts';
import { CAA_VALID_MS } from './profiles.ts';

/** How long an order, or an authorization without a response, waits for its client. */
export const PENDING_MS = 7 * DAY_MS;

export type Authorizations = ReturnType<typeof createAuthorizations>;

/** An account's authorizations (RFC 8555 §7.1.4, §7.5). */
export function createAuthorizations(parts: AcmeParts) {
  const { clock, rows, faults, onChanged } = parts;
  const { get, respond, askCaa } = createChallenges(parts);
  const now = (): number => clock.state().now;

  function reusable(account: AcmeAccount, { value }: AcmeIdentifier): AcmeAuthorization | null {
    const last = rows.lastValid(account.id, value);
    if (last === null || Math.min(last.expiresAtMs, last.reusableUntilMs ?? Infinity) <= now()) return null;
    return faults.forgets(value) ? null : last;
  }

  return {
    get,
    respond,
    /** A reusable valid authorization, or a new one for the caller to write. */
    reusableOrNew: (account: AcmeAccount, identifier: AcmeIdentifier, validForMs: number): AcmeAuthorization =>
      reusable(account, identifier) ?? newAuthorization(account.id, identifier, now(), validForMs),
    deactivate(given: AcmeAuthorization): AcmeAuthorization {
      const deactivated = { ...given, status: stepAuthorization(given.status, 'deactivate') };
      rows.save({ authorizations: [deactivated] });
      onChanged();
      return deactivated;
    },
    /** Checks CAA again if the last result is too old. @throws AcmeError caa, orderNotReady */
    async recheckCaa(account: AcmeAccount, ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        const found = get(id);
        if (found?.status !== 'valid')
          throw new AcmeError('orderNotReady', 'An authorization of the order is no longer valid.');
        if (found.identifier.type === 'ip' || (found.caa?.atMs ?? 0) > now() - CAA_VALID_MS) continue;
        const method = found.challenges.find(({ status }) => status === 'valid')?.type ?? 'http-01';
        const { error, caa } = await askCaa(nameOf(found), found.identifier, method, account.id);
        rows.save({ authorizations: [{ ...found, ...(caa !== null && { caa }) }] });
        if (error !== null) throw error;
      }
    },
  };
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

/** Maximum concurrent validations, and maximum queued ones. */
const VALIDATIONS_MAX = 64;
const WAITING_MAX = 20_000;

/** Real milliseconds that a response waits for the validation: most take less, so the client need not poll. */
const ANSWER_WITHIN_MS = 300;

interface Validated {
  attempts: AcmeChallenge['attempts'];
  error: AcmeError | null;
  caa: AcmeAuthorization['caa'] | null;
  reuseMs?: number;
}

/** Validates the challenges of authorizations (RFC 8555 §7.5.1), and asks for CAA. */
function createChallenges(parts: AcmeParts) {
  const { clock, log, rows, rates, onChanged } = parts;
  const turns = createTurns(VALIDATIONS_MAX);
  const now = (): number => clock.state().now;

  function get(id: string): AcmeAuthorization | null {
    const found = rows.authorization(id);
    if (found === null || found.expiresAtMs > now()) return found;
    const status = stepAuthorization(found.status, 'expire');
    if (status === found.status) return found;
    const expired = { ...found, status };
    rows.save({ authorizations: [expired] });
    return expired;
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
    const work = turns.enqueue(async () => {
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
        const detail = 'The validation could not be carried out; the log contains the reason.';
        finish(id, method, { attempts: [], error: new AcmeError('serverInternal', detail), caa: null });
      })
      .catch((error: unknown) => log.error('The result of an ACME validation could not be written', { error }));
    return done;
  }

  function finish(id: string, method: AcmeMethod, result: Validated): void {
    // It may have been deactivated, or have expired, meanwhile.
    const found = get(id);
    const challenge = found?.challenges.find(({ type }) => type === method);
    if (found === null || challenge === undefined) return;
    const of = `${found.accountId} ${nameOf(found)}`;
    if (result.error === null) rates.forget([{ limit: 'consecutiveFailures', of }]);
    else
      rates.count([
        { limit: 'failedValidations', of },
        { limit: 'consecutiveFailures', of },
      ]);
    rows.save({ authorizations: [decided(found, challenge, result, now())] });
    onChanged();
  }

  async function askCaa(name: string, { type }: AcmeIdentifier, method: AcmeMethod, accountId: string) {
    if (type === 'ip') return { error: null, caa: null };
    const verdict = await parts.askCaa({ name, method, accountUri: accountUrl(parts.origin(), accountId) });
    const caa = { atMs: now(), message: verdict.message, verdict: keptVerdict(verdict) };
    if (verdict.verdict === 'allowed') return { error: null, caa };
    return { error: new AcmeError('caa', `${verdict.message} ${verdict.change}`.trim()), caa };
  }

  // After a crash: resumes validations that were in progress.
  for (const each of rows.openAuthorizations('processing')) {
    const account = rows.account(each.accountId);
    const challenge = each.challenges.find(({ status }) => status === 'processing');
    if (account === null || challenge === undefined) continue;
    void run(each, challenge.type, { accountId: account.id, thumbprint: account.thumbprint });
  }

  return {
    /** An authorization with its current state; null if it does not exist. */
    get,
    /** Validates unless that is done or in progress. Resolves when it is done, or with `processing` if it takes long. */
    respond,
    /** The verdict on CAA as it is stored, and the error that it causes. */
    askCaa,
  };
}

function decided(
  found: AcmeAuthorization,
  challenge: AcmeChallenge,
  { attempts, error, caa, reuseMs }: Validated,
  atMs: number,
): AcmeAuthorization {
  const event = error === null ? 'validated' : 'failed';
  const ended = { ...challenge, status: stepChallenge(challenge.status, event), attempts };
  return {
    ...withChallenge(found, { ...ended, ...(error === null ? { validatedAtMs: atMs } : { error: faultOf(error) }) }),
    status: stepAuthorization(found.status, event),
    ...(error === null && { expiresAtMs: atMs + found.validForMs }),
    ...(error === null && reuseMs !== undefined && { reusableUntilMs: atMs + reuseMs }),
    ...(caa !== null && { caa }),
  };
}

const withChallenge = (authorization: AcmeAuthorization, challenge: AcmeChallenge): AcmeAuthorization => ({
  ...authorization,
  challenges: authorization.challenges.map((each) => (each.type === challenge.type ? challenge : each)),
});

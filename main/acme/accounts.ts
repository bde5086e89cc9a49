import { flattenedVerify } from 'jose';
import { isRecord } from '../base/text/exact-json.ts';
import { randomBase62 } from '../base/secret.ts';
import type { AcmeAccount, AcmeExternalKey, AcmeRows } from '../model/acme.ts';
import { stepAuthorization, accountUrl, termsUrl } from './resources.ts';
import {
  type PublicJwk,
  parseObject,
  readJws,
  readKey,
  thumbprintOf,
  verifyJws,
  algorithmFault,
  readFlattened,
} from './jws.ts';
import type { AcmeParts } from './parts.ts';
import { AcmeError, malformed } from './problem.ts';
import { blockOf, type Counted } from './rates.ts';

const CONTACTS_MAX = 10;

/** Accounts are never deleted; a client that creates more than this is in a loop. */
export const ACCOUNTS_MAX = 10_000;

export type Payload = Readonly<Record<string, unknown>>;

export function createAccounts({ clock, rows, rates, faults, origin, onChanged, ...parts }: AcmeParts) {
  function save(account: AcmeAccount): AcmeAccount {
    rows.save({ account });
    onChanged();
    return account;
  }

  /** @throws AcmeError unauthorized if it is deactivated */
  function existing(thumbprint: string): AcmeAccount | null {
    const known = rows.accountOfKey(thumbprint);
    if (known === null || known.status === 'valid') return known;
    throw new AcmeError('unauthorized', `The account of this key is ${known.status}.`);
  }

  return {
    /** Finds the account of a key, or creates it unless the client asks for an existing one only. @throws AcmeError */
    async open(
      key: PublicJwk,
      payload: Payload,
      { url, address }: { url: string; address: string },
    ): Promise<{ account: AcmeAccount; created: boolean }> {
      const thumbprint = await thumbprintOf(key);
      const known = existing(thumbprint);
      if (known !== null) return { account: known, created: false };
      if (payload['onlyReturnExisting'] === true) {
        throw new AcmeError('accountDoesNotExist', 'No account has this key.');
      }
      if (payload['termsOfServiceAgreed'] !== true) throw notAgreed(termsUrl(origin()));
      if (rows.accounts(ACCOUNTS_MAX).length >= ACCOUNTS_MAX) {
        throw new AcmeError(
          'rateLimited',
          `This server keeps at most ${ACCOUNTS_MAX} accounts, and that limit is reached.`,
        );
      }
      faults.newAccount(payload);
      const required = parts.externalAccountRequired();
      const binding = await readBinding(payload['externalAccountBinding'], { ...{ jwk: key, url, rows, required } });
      // A concurrent request with the same key may have created it.
      const opened = existing(thumbprint);
      if (opened !== null) return { account: opened, created: false };
      const range = blockOf(address, 48);
      const perRange: Counted[] = range === null ? [] : [{ limit: 'newAccountsPerRange', of: range }];
      const counted: Counted[] = [{ limit: 'newAccounts', of: address }, ...perRange];
      faults.limit(counted, []);
      rates.check(counted);
      const { now: createdAtMs } = clock.state();
      const contact = readContact(payload['contact'] ?? []);
      const account = { id: randomBase62(16), key, thumbprint, contact, status: 'valid', createdAtMs } as const;
      if (binding === null) {
        rates.count(counted);
        return { account: save(account), created: true };
      }
      // Read again: a concurrent request may have used the external key.
      const externalKey = rows.externalKey(binding.key.id) ?? binding.key;
      const fault = externalKeyFault(externalKey);
      if (fault !== null) throw new AcmeError('unauthorized', fault);
      rates.count(counted);
      const bound = { ...account, externalAccountBinding: binding.sent };
      rows.save({ account: bound, externalKey: { ...externalKey, accountId: account.id } });
      onChanged();
      return { account: bound, created: true };
    },
    /** Changes the contact, or deactivates the account and its authorizations. @throws AcmeError */
    update(account: AcmeAccount, { contact, status }: Payload): AcmeAccount {
      if (status === 'deactivated') {
        const authorizations = rows.openAuthorizations({ accountId: account.id });
        rows.save({
          account: { ...account, status },
          authorizations: authorizations.map((each) => ({
            ...each,
            status: stepAuthorization(each.status, 'deactivate'),
          })),
        });
        onChanged();
        return { ...account, status };
      }
      if (status !== undefined && status !== account.status) {
        throw malformed('The status of an account can be changed to "deactivated" only.');
      }
      return contact === undefined ? account : save({ ...account, contact: readContact(contact) });
    },
    /** Replaces the key (RFC 8555 §7.3.5). `inner` is a JWS of the new key. @throws AcmeError */
    async changeKey(account: AcmeAccount, inner: string, url: string): Promise<AcmeAccount> {
      const jws = readJws(inner);
      if (!('jwk' in jws.by)) throw malformed('The inner JWS must have the new key as "jwk".');
      if (jws.url !== url) throw malformed('The "url" of the inner JWS differs from that of the outer one.');
      const key = jws.by.jwk;
      const change = parseObject(await verifyJws(jws, key), 'The payload of the inner JWS');
      if (change['account'] !== accountUrl(origin(), account.id)) {
        throw malformed('"account" in the inner JWS is not the account that signed the outer JWS.');
      }
      if (!isRecord(change['oldKey']) || (await thumbprintOf(readKey(change['oldKey']))) !== account.thumbprint) {
        throw malformed('"oldKey" in the inner JWS is not the key of the account.');
      }
      const thumbprint = await thumbprintOf(key);
      const holder = rows.accountOfKey(thumbprint);
      if (holder !== null) {
        throw new AcmeError('malformed', 'Another account already has the new key.', {
          status: 409,
          headers: ['Location', accountUrl(origin(), holder.id)],
        });
      }
      return save({ ...account, key, thumbprint });
    },
  };
}

/** RFC 8555 §7.3 and §7.3.3. */
const notAgreed = (instance: string): AcmeError =>
  new AcmeError('userActionRequired', `"termsOfServiceAgreed" must be true: the client agrees to ${instance}.`, {
    headers: ['Link', `<${instance}>;rel="terms-of-service"`],
    members: { instance },
  });

/** Reads `mailto:` URLs with one address each (RFC 8555 §7.3). */
function readContact(value: unknown): string[] {
  if (!Array.isArray(value) || value.length > CONTACTS_MAX)
    throw malformed(`"contact" must be a list of at most ${CONTACTS_MAX} URLs.`);
  return value.map((each) => {
    if (typeof each !== 'string') throw malformed('A contact must be a string.');
    if (!each.startsWith('mailto:')) throw new AcmeError('unsupportedContact', 'A contact must begin with "mailto:".');
    if (/^mailto:[^\s@,?]+@[^\s@,?]+$/.test(each) && each.length <= 320) return each;
    throw new AcmeError('invalidContact', `${JSON.stringify(each.slice(0, 320))} is not a single mail address.`);
  });
}

/** RFC 8555 §7.3.4: a binding is made with a MAC. */
const MACS = ['HS256', 'HS384', 'HS512'] as const;

/**
 * Reads `externalAccountBinding` of a new account (RFC 8555 §7.3.4): a JWS over the account's own key, made with a key
 * that `acme.createExternalKey` handed out. `sent` is for the account, which shows it.
 * Null without one. @throws AcmeError
 */
async function readBinding(
  given: unknown,
  { jwk, url, rows, required }: { jwk: PublicJwk; url: string; rows: Pick<AcmeRows, 'externalKey'>; required: boolean },
): Promise<{ sent: Readonly<Record<string, unknown>>; key: AcmeExternalKey } | null> {
  if (given === undefined || given === null) {
    if (!required) return null;
    throw new AcmeError(
      'externalAccountRequired',
      'New accounts need an external account binding. To create a key for one: vivarium acme create-external-key',
    );
  }
  if (!isRecord(given)) throw malformed('"externalAccountBinding" must be a JWS.');
  const { header, flattened } = readFlattened(given, 'The binding');
  const { alg, kid, url: signed } = header;
  if (!MACS.some((known) => known === alg)) throw algorithmFault('The binding', MACS);
  if ('nonce' in header) throw malformed('The binding must not have a "nonce".');
  if (signed !== url) throw malformed('The "url" of the binding differs from that of the request.');
  if (typeof kid !== 'string') throw malformed('The binding must have the external key’s identifier as "kid".');
  const key = rows.externalKey(kid);
  if (key === null) throw new AcmeError('unauthorized', 'No external key has the identifier in "kid".');
  const payload = await flattenedVerify(flattened, Buffer.from(key.secret, 'base64url'), {
    algorithms: [...MACS],
  }).then(
    (verified) => Buffer.from(verified.payload).toString(),
    () => {
      throw new AcmeError('unauthorized', `The MAC of the binding was not made with the external key ${key.id}.`);
    },
  );
  const bound = readKey(parseObject(payload, 'The payload of the binding'));
  if ((await thumbprintOf(bound)) !== (await thumbprintOf(jwk))) {
    throw malformed('The payload of the binding is not the key that signs the request.');
  }
  return { sent: given, key };
}

/** Why a key cannot create an account; null if it can. Each key creates one account. */
function externalKeyFault({ id, accountId, revokedAtMs }: AcmeExternalKey): string | null {
  if (revokedAtMs !== undefined) return `The external key ${id} is revoked.`;
  return accountId === undefined ? null : `The external key ${id} has already been used for an account.`;
}

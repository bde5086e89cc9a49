import { hash } from 'node:crypto';
import { type Answered, failed, type Outcome, shown, type Task } from './outcome.ts';

/** dns-01 (RFC 8555 §8.4), and with the account's own label below it dns-account-01. */
export async function validateDns(
  { identifier, keyAuthorization }: Task,
  texts: (name: string) => Promise<Answered>,
  label = '',
): Promise<Outcome> {
  const name = `${label}_acme-challenge.${identifier.value}`;
  const asked = { what: `${name} TXT`, question: { name, type: 'TXT' } };
  const expected = hash('sha256', keyAuthorization, 'base64url');
  const answer = await texts(name);
  if (!answer.ok) return failed('dns', answer.detail, [{ ...asked, found: answer.detail }]);
  const { values } = answer;
  const found = values.length === 0 ? 'no record' : values.slice(0, 10).map(shown).join(', ');
  const attempts = [{ ...asked, found }];
  if (values.includes(expected)) return { attempts, error: null };
  const detail =
    values.length === 0
      ? `There is no TXT record at ${name}; the challenge wants ${shown(expected)}.`
      : `No TXT record at ${name} has the value ${shown(expected)}.`;
  return failed('unauthorized', detail, attempts);
}

/** RFC 4648 §6, in lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The label of an account (draft-ietf-acme-dns-account-label-02 §3), by which several clients prove the same name at the
 * same time: `_` and the first ten octets of the SHA-256 of its URL in base32, with a dot.
 */
export function accountLabel(accountUri: string): string {
  const octets = BigInt(`0x${hash('sha256', accountUri, 'hex').slice(0, 20)}`);
  const digits = Array.from({ length: 16 }, (_, index) => BASE32[Number((octets >> BigInt(75 - 5 * index)) & 31n)]);
  return `_${digits.join('')}.`;
}

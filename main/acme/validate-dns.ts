import { hash } from 'node:crypto';
import { type Answered, failed, type Outcome, shown, type Task } from './outcome.ts';

/** dns-01 (RFC 8555 §8.4): the only one for wildcards. */
export async function validateDns(
  { identifier, keyAuthorization }: Task,
  texts: (name: string) => Promise<Answered>,
): Promise<Outcome> {
  const name = `_acme-challenge.${identifier.value}`;
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

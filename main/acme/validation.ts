import { hash } from 'node:crypto';
import type { EpochMs } from '../base/clock.ts';
import type { AcmeMethod } from '../model/acme.ts';
import { formatIssueValue, parseIssueValue } from '../model/caa/value.ts';
import { type Answered, failed, type Outcome, shown, type Task } from './outcome.ts';
import { type HttpValidation, validateHttp } from './validate-http.ts';
import { type TlsValidation, validateTls } from './validate-tls.ts';

/** Validates by any method. Failures are returned as outcomes, never thrown. */
export const createValidation =
  (options: {
    resolve: HttpValidation['resolve'];
    texts: (name: string) => Promise<Answered>;
    localPort: HttpValidation['localPort'];
    arriving: HttpValidation['arriving'];
    tlsPort: () => number;
    readCertificate: TlsValidation['readCertificate'];
    userAgent: string;
    /** The CA's name in records. */
    issuer: () => string;
    now: () => EpochMs;
  }) =>
  (method: AcmeMethod, task: Task): Promise<Outcome> => {
    switch (method) {
      case 'http-01':
        return validateHttp(task, options);
      case 'dns-01':
        return validateDns(task, options.texts);
      case 'dns-account-01':
        return validateDns(task, options.texts, accountLabel(task.accountUri));
      case 'dns-persist-01':
        return validateDnsPersist(task, { texts: options.texts, issuer: options.issuer(), nowMs: options.now() });
      case 'tls-alpn-01':
        return validateTls(task, { ...options, port: options.tlsPort() });
    }
  };

/** dns-01 (RFC 8555 §8.4), and dns-account-01, which adds a label for the account. */
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
      ? `There is no TXT record at ${name}; the challenge requires ${shown(expected)}.`
      : `No TXT record at ${name} has the value ${shown(expected)}.`;
  return failed('unauthorized', detail, attempts);
}

/** RFC 4648 §6, in lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The label of an account (draft-ietf-acme-dns-account-label-02 §3): several clients can validate one name at the
 * same time: `_` and the first ten octets of the SHA-256 of its URL in base32, with a dot.
 */
export function accountLabel(accountUri: string): string {
  const octets = BigInt(`0x${hash('sha256', accountUri, 'hex').slice(0, 20)}`);
  const digits = Array.from({ length: 16 }, (_, index) => BASE32[Number((octets >> BigInt(75 - 5 * index)) & 31n)]);
  return `_${digits.join('')}.`;
}

/** The number of wrong records whose faults an error lists. */
const FAULTS_SHOWN = 10;

/** What a record must contain for a validation to succeed. */
export interface PersistentClaim {
  /** The CA's name, in lower case. */
  readonly issuer: string;
  readonly accountUri: string;
  readonly wildcard: boolean;
  readonly nowMs: EpochMs;
}

/**
 * dns-persist-01 (draft-ietf-acme-dns-persist-01): a permanent record that names the CA and the account's URL. Like
 * Boulder and Pebble, it reads the record of the exact name; `policy=wildcard` extends the record to the wildcard.
 */
export async function validateDnsPersist(
  { identifier, wildcard, accountUri }: Task,
  { texts, ...ca }: { texts: (name: string) => Promise<Answered>; issuer: string; nowMs: EpochMs },
): Promise<Outcome> {
  const name = `_validation-persist.${identifier.value}`;
  const what = `${name} TXT`;
  const answer = await texts(name);
  if (!answer.ok) return failed('dns', answer.detail, [{ what, found: answer.detail }]);
  const { values } = answer;
  const attempts = [{ what, found: values.length === 0 ? 'no record' : values.slice(0, 10).map(shown).join(', ') }];
  const claim = { ...ca, accountUri, wildcard };
  const fault = persistenceFault(values, claim);
  // Other orders may reuse it for the record's TTL at most (draft, "Validation Data Reuse and TTL Handling").
  if (fault === null) return { attempts, error: null, reuseMs: (answer.ttlSeconds ?? 0) * 1_000 };
  return failed(fault.type, `${fault.why} The challenge requires ${wanted(claim)} at ${name}.`, attempts);
}

interface Fault {
  /** Problems as defined by the draft's "Error Handling". */
  readonly type: 'malformed' | 'unauthorized';
  readonly why: string;
}

const malformed = (why: string): Fault => ({ type: 'malformed', why });
const unauthorized = (why: string): Fault => ({ type: 'unauthorized', why });

/** Why no record at a name matches the claim; null if one does. */
export function persistenceFault(values: readonly string[], claim: PersistentClaim): Fault | null {
  // Records of other CAs are ignored.
  const own = values.filter((value) => issuerOf(value) === claim.issuer);
  const faults = own.map((value) => faultOf(value, claim));
  if (faults.includes(null)) return null;
  const [first, ...others] = faults.filter((fault) => fault !== null).slice(0, FAULTS_SHOWN);
  if (first === undefined) return unauthorized(`No TXT record names ${claim.issuer}.`);
  return { ...first, why: [first, ...others].map(({ why }) => why).join(' ') };
}

const issuerOf = (value: string): string => (value.split(';', 1)[0] ?? '').trim().toLowerCase();

function faultOf(text: string, { accountUri, wildcard, nowMs }: PersistentClaim): Fault | null {
  const parsed = parseIssueValue(text);
  if (!parsed.ok) return malformed(`The record ${shown(text)} is malformed: ${parsed.fault}.`);
  const parameters = new Map<string, string>();
  for (const { tag, value } of parsed.value.parameters) {
    const known = tag.toLowerCase();
    if (parameters.has(known)) return malformed(`The record ${shown(text)} has "${known}" twice.`);
    parameters.set(known, value);
  }
  const [account, until] = [parameters.get('accounturi'), parameters.get('persistuntil')];
  if (account === undefined) return malformed(`The record ${shown(text)} lacks "accounturi".`);
  if (until !== undefined && !/^\d{1,12}$/.test(until)) {
    return malformed(`"persistUntil" is ${shown(until)}, which is not a number of seconds since 1970.`);
  }
  if (account !== accountUri) return unauthorized(`The record is for the account ${shown(account)}.`);
  if (wildcard && parameters.get('policy')?.toLowerCase() !== 'wildcard') {
    return unauthorized('The record does not cover the wildcard: "policy=wildcard" is missing.');
  }
  const untilMs = until === undefined ? Infinity : Number(until) * 1_000;
  return nowMs > untilMs ? unauthorized(`The record was valid until ${new Date(untilMs).toISOString()}.`) : null;
}

const wanted = ({ issuer, accountUri, wildcard }: PersistentClaim): string => {
  const policy = wildcard ? [{ tag: 'policy', value: 'wildcard' }] : [];
  return `"${formatIssueValue({ issuer, parameters: [{ tag: 'accounturi', value: accountUri }, ...policy] })}"`;
};

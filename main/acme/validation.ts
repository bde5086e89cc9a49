import { hash } from 'node:crypto';
import type { EpochMs } from '../base/clock.ts';
import type { AcmeMethod, AcmeAttempt, AcmeIdentifier } from '../model/acme.ts';
import { formatIssueValue, parseIssueValue } from '../model/caa/value.ts';
import { failed, shown, dial, findDestinations, hostOf, reasonOf, VALIDATION_MS_MAX } from './outcome.ts';
import type { Answered, Outcome, Task } from './outcome.ts';
import { type HttpValidation, validateHttp } from './validate-http.ts';
import { isIPv4, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { ipv4Octets, ipv6Groups } from '../model/address.ts';
import { AcmeError } from './problem.ts';

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

/** The protocol's name in ALPN (RFC 8737 §6.2). */
const PROTOCOL = 'acme-tls/1';

/** The parts of a certificate that answer a challenge (RFC 8737 §3). */
export interface ChallengeCertificate {
  /** Formatted as in `X509Certificate.subjectAltName`: `DNS:app.test`. */
  readonly names: string;
  /** The digest in the critical extension `acmeIdentifier`, in hexadecimal; null without such an extension. */
  readonly digest: string | null;
}

export interface TlsValidation {
  resolve(hostname: string): Promise<Answered>;
  port: number;
  readCertificate(der: Buffer): ChallengeCertificate;
}

/** tls-alpn-01 (RFC 8737, RFC 8738 §6). */
export async function validateTls({ identifier, keyAuthorization }: Task, options: TlsValidation): Promise<Outcome> {
  const attempts: AcmeAttempt[] = [];
  const destinations = await findDestinations(identifier, options.resolve, attempts);
  if (!destinations.ok) return failed(destinations.type, destinations.detail, attempts);
  const signal = AbortSignal.timeout(VALIDATION_MS_MAX);
  const digest = hash('sha256', keyAuthorization, 'hex');
  const wanted = identifier.type === 'ip' ? `IP Address:${longForm(identifier.value)}` : `DNS:${identifier.value}`;
  let last: AcmeError | null = null;
  for (const address of destinations.addresses) {
    const what = `TLS for ${identifier.value} at ${hostOf(address)}:${options.port}`;
    const fail = (type: 'connection' | 'tls' | 'unauthorized', found: string): void => {
      attempts.push({ what, found });
      last = new AcmeError(type, `${what}: ${found}.`);
    };
    const answer = await dial(address, options.port, signal)
      .then((socket) => handshake(socket, serverNameOf(identifier), signal))
      .catch((error: unknown): Handshake => ({ failure: reasonOf(error) }));
    if ('failure' in answer) {
      fail('connection', answer.failure);
      continue;
    }
    if (answer.protocol !== PROTOCOL) {
      fail('unauthorized', `the server does not speak ${PROTOCOL}`);
      continue;
    }
    const { names, digest: found } = options.readCertificate(answer.certificate);
    if (names !== wanted)
      fail('unauthorized', `the certificate is for ${names || 'no name'} instead of ${wanted} alone`);
    else if (found !== digest)
      fail('unauthorized', 'the acmeIdentifier of the certificate does not match the challenge');
    else {
      attempts.push({ what, found: 'the challenge’s certificate' });
      return { attempts, error: null };
    }
  }
  return { attempts, error: last };
}

type Handshake = { protocol: string | false | null; certificate: Buffer } | { failure: string };

function handshake(raw: Socket, servername: string, signal: AbortSignal): Promise<Handshake> {
  return new Promise((resolve) => {
    const socket = connect({
      ...{ socket: raw, servername, ALPNProtocols: [PROTOCOL] },
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    });
    const end = (result: Handshake): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(result);
    };
    const onAbort = (): void => end({ failure: 'no answer in time' });
    signal.addEventListener('abort', onAbort);
    socket.on('error', (error) => end({ failure: reasonOf(error) }));
    socket.on('close', () => end({ failure: 'the connection was closed' }));
    socket.on('secureConnect', () =>
      end({ protocol: socket.alpnProtocol, certificate: socket.getPeerCertificate().raw ?? Buffer.alloc(0) }),
    );
    if (signal.aborted) onAbort();
  });
}

/** The server name to send; for an address, its reverse-lookup name (RFC 8738 §6). */
function serverNameOf({ type, value }: AcmeIdentifier): string {
  if (type === 'dns') return value;
  if (isIPv4(value)) return `${ipv4Octets(value).reverse().join('.')}.in-addr.arpa`;
  const digits = ipv6Groups(value).map((group) => group.toString(16).padStart(4, '0'));
  return `${[...digits.join('')].reverse().join('.')}.ip6.arpa`;
}

/** Formats an address as `X509Certificate.subjectAltName` does: IPv6 in upper case, with all groups. */
const longForm = (address: string): string =>
  isIPv4(address)
    ? address
    : ipv6Groups(address)
        .map((group) => group.toString(16).toUpperCase())
        .join(':');

import { pairsOf } from '../base/http/fields.ts';

/** Header fields that carry credentials, in lower case. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-auth-token',
  'x-csrf-token',
  'sec-websocket-key',
]);

/** The visible prefix of a key's secret, the same as in the list of keys. */
const PREFIX_LENGTH = 8;

const HIDDEN = '…';

const SECRET = /\bviv_[0-9A-Za-z]{4,}/g;

/** Header fields for display: secrets are shortened to what distinguishes them. */
export function redactFields(fields: readonly string[]): { name: string; value: string }[] {
  return pairsOf(fields).map(([name, value]) => ({ name, value: redactValue(name.toLowerCase(), value) }));
}

function redactValue(name: string, value: string): string {
  if (!SECRET_FIELDS.has(name)) return redactText(value);
  if (name === 'authorization' || name === 'proxy-authorization') return redactCredentials(value);
  if (name === 'cookie') {
    return value
      .split(';')
      .map((pair) => redactPair(pair.trim()))
      .join('; ');
  }
  if (name === 'set-cookie') {
    const [pair = '', ...attributes] = value.split(';');
    return [redactPair(pair), ...attributes].join(';');
  }
  return HIDDEN;
}

/** `Bearer viv_3fQ9…`: the scheme and, for one of our keys, its prefix. */
function redactCredentials(value: string): string {
  const [scheme = '', ...rest] = value.trim().split(/\s+/);
  const secret = rest.join(' ');
  if (secret === '') return HIDDEN;
  return `${scheme} ${secret.startsWith('viv_') ? secret.slice(0, PREFIX_LENGTH) : ''}${HIDDEN}`;
}

function redactPair(pair: string): string {
  const equals = pair.indexOf('=');
  return equals < 0 ? HIDDEN : `${pair.slice(0, equals)}=${HIDDEN}`;
}

/** Redacts key secrets anywhere in a text, for example in a query or body. */
export const redactText = (text: string): string =>
  text.replace(SECRET, (secret) => `${secret.slice(0, PREFIX_LENGTH)}${HIDDEN}`);

/** Redacts key secrets in binary data, such as a form with a file; keeps the length. */
export function redactBytes(bytes: Buffer): Buffer {
  if (!bytes.includes('viv_')) return bytes;
  const hidden = bytes
    .toString('latin1')
    .replace(SECRET, (secret) => secret.slice(0, PREFIX_LENGTH).padEnd(secret.length, '*'));
  return Buffer.from(hidden, 'latin1');
}

import { isIPv4, isIPv6 } from 'node:net';
import { canonicalAddress, ipv4Octets, ipv6Groups } from '../../model/address.ts';
import { quoteOctets, ROOT, unescape } from '../../model/dns-name.ts';
import type { Field, Words } from './field.ts';

/** A parameter of SVCB and HTTPS (RFC 9460 §14.3), with its value in octets of the wire. */
interface ServiceParameter {
  key: number;
  value: string;
}

/** A parameter's value between a zone file and the wire; both in octets, the former without quotation marks. */
interface ValueForm {
  /** Null for a text that has no such form. */
  parse(text: string): string | null;
  format(octets: string): string;
  /** Whether octets of a message are valid. */
  fits(octets: string): boolean;
}

const uint16 = (value: number): string => String.fromCharCode(value >>> 8, value & 0xff);
const readUint16 = (octets: string): number => octets.charCodeAt(0) * 256 + octets.charCodeAt(1);
const UINT16_MAX = 0xffff;

/** RFC 9460 Appendix A.1: commas separate items; a comma or backslash within an item is escaped with a backslash. */
function readList(text: string): string[] | null {
  const items: string[] = [];
  let item = '';
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === ',') {
      items.push(item);
      item = '';
    } else if (character === '\\') {
      if (at + 1 === text.length) return null;
      item += text.charAt(++at);
    } else item += character;
  }
  return [...items, item];
}

/** Each item with its length before it (RFC 9460 §7.1.1). */
function protocolsIn(octets: string): string[] | null {
  const found: string[] = [];
  for (let at = 0; at < octets.length;) {
    const length = octets.charCodeAt(at);
    found.push(octets.slice(at + 1, at + 1 + length));
    at += 1 + length;
    if (length === 0 || at > octets.length) return null;
  }
  return found.length === 0 ? null : found;
}

const protocols: ValueForm = {
  parse(text) {
    const items = readList(text);
    const good = items?.every((item) => item.length > 0 && item.length <= 255) ?? false;
    return good ? (items ?? []).map((item) => String.fromCharCode(item.length) + item).join('') : null;
  },
  format: (octets) => (protocolsIn(octets) ?? []).map((item) => item.replace(/[\\,]/g, '\\$&')).join(','),
  fits: (octets) => protocolsIn(octets) !== null,
};

const flag: ValueForm = {
  parse: (text) => (text === '' ? '' : null),
  format: () => '',
  fits: (octets) => octets === '',
};

const port: ValueForm = {
  parse: (text) => (/^[0-9]{1,5}$/.test(text) && Number(text) <= UINT16_MAX ? uint16(Number(text)) : null),
  format: (octets) => String(readUint16(octets)),
  fits: (octets) => octets.length === 2,
};

/** A list of items of equal size. */
function listOf(size: number, item: { parse(text: string): string | null; format(octets: string): string }): ValueForm {
  return {
    parse(text) {
      const items = text.split(',').map((each) => item.parse(each));
      return items.includes(null) ? null : items.join('');
    },
    format: (octets) =>
      (octets.match(new RegExp(`[^]{${size}}`, 'g')) ?? []).map((each) => item.format(each)).join(','),
    fits: (octets) => octets.length > 0 && octets.length % size === 0,
  };
}

const octetsOf = (text: string): number[] => [...text].map((octet) => octet.charCodeAt(0));

const ipv4 = listOf(4, {
  parse: (text) => (isIPv4(text) ? String.fromCharCode(...ipv4Octets(text)) : null),
  format: (octets) => octetsOf(octets).join('.'),
});

const ipv6 = listOf(16, {
  parse: (text) =>
    isIPv6(text) && !text.includes('%') ? ipv6Groups(canonicalAddress(text)).map(uint16).join('') : null,
  format(octets) {
    const groups = Array.from({ length: 8 }, (_, index) => readUint16(octets.slice(index * 2)).toString(16));
    return canonicalAddress(groups.join(':'));
  },
});

const keys = listOf(2, {
  parse(text) {
    const key = keyOf(text);
    return key === null ? null : uint16(key);
  },
  format: (octets) => keyName(readUint16(octets)),
});

/** At least one octet in base64 (RFC 4648 §4). */
export const BASE64_TEXT = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const base64: ValueForm = {
  parse: (text) => (BASE64_TEXT.test(text) ? Buffer.from(text, 'base64').toString('latin1') : null),
  format: (octets) => Buffer.from(octets, 'latin1').toString('base64'),
  fits: (octets) => octets.length > 0,
};

const plain: ValueForm = { parse: (text) => text, format: (octets) => octets, fits: () => true };

/** RFC 9460 §14.3.2, RFC 9461 §5, RFC 9540 §4: by key. */
const FORMS: readonly (readonly [name: string, form: ValueForm])[] = [
  ['mandatory', keys],
  ['alpn', protocols],
  ['no-default-alpn', flag],
  ['port', port],
  ['ipv4hint', ipv4],
  ['ech', base64],
  ['ipv6hint', ipv6],
  ['dohpath', plain],
  ['ohttp', flag],
];

const MANDATORY = 0;
const ALPN = 1;
const NO_DEFAULT_ALPN = 2;
const PORT = 3;

const keyName = (key: number): string => FORMS[key]?.[0] ?? `key${key}`;

function keyOf(text: string): number | null {
  const known = FORMS.findIndex(([name]) => name === text.toLowerCase());
  if (known >= 0) return known;
  const digits = /^key(0|[1-9][0-9]{0,4})$/i.exec(text)?.[1];
  return digits !== undefined && Number(digits) <= UINT16_MAX ? Number(digits) : null;
}

const formOf = (key: number): ValueForm => FORMS[key]?.[1] ?? plain;

/** A parameter from its text in octets, such as `h2,http/1.1` for `alpn`. @throws TypeError for another form. */
function parameter(key: number, text: string): ServiceParameter {
  const value = formOf(key).parse(text);
  if (value === null) throw new TypeError(`${keyName(key)} can't be "${text}".`);
  return { key, value };
}

/** RFC 9460 §2.1, §7.1.1 and §8; null if the parameters are compatible. */
function faultOf(parameters: readonly ServiceParameter[]): string | null {
  const present = new Set(parameters.map(({ key }) => key));
  if (present.size < parameters.length) return 'a parameter occurs twice';
  if (present.has(NO_DEFAULT_ALPN) && !present.has(ALPN)) return 'no-default-alpn needs alpn';
  const wanted = parameters.find(({ key }) => key === MANDATORY)?.value ?? '';
  const named = Array.from({ length: wanted.length / 2 }, (_, index) => readUint16(wanted.slice(index * 2)));
  if (named.includes(MANDATORY) || new Set(named).size < named.length) {
    return 'mandatory lists each key once, and not itself';
  }
  const missing = named.find((key) => !present.has(key));
  return missing === undefined ? null : `mandatory lists ${keyName(missing)}, which is missing`;
}

/** `key`, `key=value` or `key="value"` (RFC 9460 §2.1). */
function parseAll(words: Words): ServiceParameter[] {
  const parameters: ServiceParameter[] = [];
  const rest = words.rest('');
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at];
    if (word === undefined) break;
    const equals = word.text.indexOf('=');
    const name = equals < 0 ? word.text : word.text.slice(0, equals);
    const key = word.quoted ? null : keyOf(name);
    if (key === null) return words.fail(`"${name}" is not a parameter; they are ${NAMES}, and key65535`);
    let text = equals < 0 ? '' : word.text.slice(equals + 1);
    // The quotation mark begins a separate word.
    if (equals === word.text.length - 1 && rest[at + 1]?.quoted === true) text = rest[++at]?.text ?? '';
    const octets = unescape(text);
    const value = octets === null ? null : formOf(key).parse(octets);
    if (value === null) return words.fail(`${keyName(key)} can't be "${text}"`);
    // The wire has a list of keys in ascending order (RFC 9460 §8).
    parameters.push({ key, value: key === MANDATORY ? (value.match(/[^]{2}/g) ?? []).sort().join('') : value });
  }
  const wrong = faultOf(parameters);
  if (wrong !== null) return words.fail(wrong);
  return parameters.sort((one, other) => one.key - other.key);
}

const NAMES = FORMS.map(([name]) => name).join(', ');

/** The parameters of SVCB and HTTPS. */
export const PARAMETERS: Field<readonly ServiceParameter[]> = {
  parse: parseAll,
  format: (parameters) =>
    parameters
      .map(({ key, value }) => {
        const text = formOf(key).format(value);
        if (text === '') return keyName(key);
        return `${keyName(key)}=${/^[!#-'*-:<-[\]-~]+$/.test(text) ? text : quoteOctets(text)}`;
      })
      .join(' '),
  read(from, end) {
    const parameters: ServiceParameter[] = [];
    while (from.isBefore(end)) {
      const key = from.uint16();
      const value = from.octets(from.uint16()).toString('latin1');
      // RFC 9460 §2.2: in strictly increasing order.
      if (key <= (parameters.at(-1)?.key ?? -1) || !formOf(key).fits(value)) return from.malformed();
      parameters.push({ key, value });
    }
    return parameters;
  },
  write(to, parameters) {
    for (const { key, value } of parameters) {
      to.uint16(key);
      to.uint16(value.length);
      to.text(value);
    }
  },
};

/**
 * The record of a hostname that is served over HTTPS at a port of its own address (RFC 9460 §9). HTTP/1.1 is implied;
 * if it is listed, Firefox requires it in the handshake and gives up when the handshake agrees on HTTP/2.
 */
export const serviceRecord = (port: number) => ({
  type: 'HTTPS' as const,
  priority: 1,
  server: ROOT,
  parameters: [parameter(ALPN, 'h2'), parameter(PORT, String(port))],
});

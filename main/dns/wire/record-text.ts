import { isIPv4, isIPv6 } from 'node:net';
import { canonicalAddress } from '../../model/address.ts';
import { caaFault } from '../../model/caa/value.ts';
import { caaWarnings } from '../../model/caa/wording.ts';
import { parseName, ROOT, unescape, utf8Octets, absoluteText, relativeText, spokenName } from '../../model/dns-name.ts';
import type { DomainName } from '../../model/dns-name.ts';
import { RECORD_TYPES, type NamedType } from '../../contract/record-types.ts';
import { STRING_OCTETS_MAX, type Words } from './field.ts';
import { dataOf, fieldsOf, valueIn } from './record-fields.ts';
import { TTL_SECONDS_MAX, typeCode, typeName } from './record.ts';
import type { RecordData, RecordType, ResourceRecord } from './record.ts';
import { readTokens, type Token } from './tokens.ts';
import { readData } from './wire-reader.ts';

/** The limit of real providers for a TXT record (Cloudflare 2,048, Route 53 4,000); the wire allows 64 KiB. */
const TEXT_OCTETS_MAX = 4096;
const UINT16_MAX = 0xffff;

export type DataResult = { ok: true; data: RecordData; warnings: string[] } | { ok: false; message: string };

/** Aborts the parsing of a record; its message is shown to the user. */
class RecordFault extends Error {}

/**
 * Parses a record's value in the form of `records.put`: raw text for TXT, otherwise zone-file notation, with absolute
 * names with or without the trailing dot.
 */
export function parseValue(type: RecordType, value: string): DataResult {
  if (type === 'TXT') return guarded(() => ({ type, strings: splitText(utf8Octets(value)) }));
  return parseZoneValue(type, value);
}

/** Parses a value that `formatZoneValue` wrote with absolute names; the round trip is lossless. */
export function parseZoneValue(type: RecordType, value: string): DataResult {
  const read = readTokens(value);
  return 'fault' in read ? { ok: false, message: read.fault } : parseTokens(type, read.tokens, ROOT);
}

/** `digestType` in separate words. */
const wordsOf = (field: string): string =>
  field.replace(/Seconds$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Parses a record's value from a zone file: names without a trailing dot are relative to `origin`. */
export function parseTokens(type: RecordType, tokens: readonly Token[], origin: DomainName): DataResult {
  return guarded(() => {
    const [first] = tokens;
    const fields = fieldsOf(type);
    if (fields === undefined || (first?.quoted === false && first.text === '\\#')) return readOctets(type, tokens);
    const words = new RecordWords(type, tokens, origin);
    const data = dataOf(
      type,
      fields.map(([name, field]) => [name, field.parse(words, wordsOf(name))] as const),
    );
    words.end();
    const wrong = data.type === 'CAA' ? caaFault(data.flags, data.tag) : null;
    if (wrong !== null) throw new RecordFault(wrong);
    return data;
  });
}

function guarded(read: () => RecordData): DataResult {
  try {
    const data = read();
    return { ok: true, data, warnings: data.type === 'CAA' ? caaWarnings(data) : [] };
  } catch (error) {
    if (error instanceof RecordFault) return { ok: false, message: error.message };
    throw error;
  }
}

/** RFC 3597 §5: `\\# 4 C0000201`, also allowed for types with their own format. */
function readOctets(type: RecordType, tokens: readonly Token[]): RecordData {
  const [form, length, ...digits] = tokens.map(({ text }) => text);
  const code = typeCode(type);
  if (form !== '\\#') {
    const name = code === null ? type : typeName(code);
    throw new RecordFault(`${name} can only be written as octets here: \\# 4 C0000201`);
  }
  const hex = digits.join('');
  const octets = Buffer.from(hex, 'hex');
  if (!/^(?:[0-9a-f]{2})*$/i.test(hex) || length !== String(octets.length) || octets.length > UINT16_MAX) {
    throw new RecordFault(`${type}: "\\#" takes the number of octets, then as many in hexadecimal: \\# 4 C0000201`);
  }
  const data = code === null ? null : readData(code, octets);
  if (data !== null) return data;
  throw new RecordFault(`${type}: these octets are not data of that type. ${exampleOf(type)}`);
}

const isNamed = (type: RecordType): type is NamedType => type in RECORD_TYPES;

const exampleOf = (type: RecordType): string =>
  `Write it like ${isNamed(type) ? (ZONE_EXAMPLES[type] ?? RECORD_TYPES[type].example) : '\\# 4 C0000201'}`;

/** Examples for types whose zone-file form differs. */
const ZONE_EXAMPLES: Partial<Record<RecordType, string>> = {
  TXT: '"some text"',
  CAA: '0 issue "ca.example"',
  SOA: 'ns1.example. hostmaster.example. 1 7200 900 1209600 300',
};

/** The words of one record's value, consumed in order. */
class RecordWords implements Words {
  readonly #type: RecordType;
  readonly #tokens: readonly Token[];
  readonly #origin: DomainName;
  #next = 0;

  constructor(type: RecordType, tokens: readonly Token[], origin: DomainName) {
    this.#type = type;
    this.#tokens = tokens;
    this.#origin = origin;
  }

  #take(what: string): Token {
    const token = this.#tokens[this.#next];
    if (token === undefined) throw this.#fault(`the ${what} is missing`);
    this.#next++;
    return token;
  }

  #fault(what: string): RecordFault {
    return new RecordFault(`${this.#type}: ${what}. ${exampleOf(this.#type)}`);
  }

  address(family: 4 | 6): string {
    const { text } = this.#take('address');
    if (family === 4 ? isIPv4(text) : isIPv6(text) && !text.includes('%')) return canonicalAddress(text);
    throw this.#fault(`"${text}" is not an IPv${family} address`);
  }

  name(): DomainName {
    const token = this.#take('name');
    const result = parseName(token.text, this.#origin);
    if (!result.ok) throw new RecordFault(`${this.#type}: ${result.message}`);
    return result.name;
  }

  integer(what: string, max: number): number {
    const { text } = this.#take(what);
    if (/^[0-9]{1,10}$/.test(text) && Number(text) <= max) return Number(text);
    throw this.#fault(`the ${what} must be a number from 0 to ${max}, not "${text}"`);
  }

  duration(what: string): number {
    const { text } = this.#take(what);
    const seconds = parseTtl(text);
    if (seconds !== null) return seconds;
    throw this.#fault(`the ${what} must be a number of seconds from 0 to ${TTL_SECONDS_MAX}, not "${text}"`);
  }

  named(names: Readonly<Record<string, number>>): number | null {
    const number = names[this.#tokens[this.#next]?.text.toUpperCase() ?? ''] ?? null;
    if (number !== null) this.#next++;
    return number;
  }

  string(): string {
    const octets = this.text();
    if (octets.length <= STRING_OCTETS_MAX) return octets;
    throw this.#fault(`a text has at most ${STRING_OCTETS_MAX} octets; this one has ${octets.length}`);
  }

  text(): string {
    const { text } = this.#take('text');
    const octets = unescape(text);
    if (octets === null) throw this.#fault(`"\\" in "${text}" needs a character, or three digits from 000 to 255`);
    if (octets.length > TEXT_OCTETS_MAX) throw this.#fault(`a text has at most ${TEXT_OCTETS_MAX} octets`);
    return octets;
  }

  strings(): string[] {
    const strings: string[] = [];
    let total = 0;
    do {
      const octets = this.text();
      total += octets.length;
      if (total > TEXT_OCTETS_MAX) throw this.#fault(`a text has at most ${TEXT_OCTETS_MAX} octets`);
      strings.push(...splitText(octets));
    } while (this.#next < this.#tokens.length);
    return strings;
  }

  rest(): Token[] {
    const rest = this.#tokens.slice(this.#next);
    this.#next = this.#tokens.length;
    return rest;
  }

  fail(what: string): never {
    throw this.#fault(what);
  }

  end(): void {
    const extra = this.#tokens[this.#next];
    if (extra !== undefined) throw this.#fault(`unexpected "${extra.text}"`);
  }
}

/** Splits a text of any length into the strings of a TXT record. */
function splitText(octets: string): string[] {
  if (octets.length > TEXT_OCTETS_MAX) {
    throw new RecordFault(`TXT: a text has at most ${TEXT_OCTETS_MAX} octets; this one has ${octets.length}.`);
  }
  if (octets.length <= STRING_OCTETS_MAX) return [octets];
  const strings: string[] = [];
  for (let at = 0; at < octets.length; at += STRING_OCTETS_MAX) strings.push(octets.slice(at, at + STRING_OCTETS_MAX));
  return strings;
}

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Seconds of a TTL such as `3600`, `1h` or `1h30m`; null for other texts, or above 2^31 − 1. */
export function parseTtl(text: string): number | null {
  if (/^[0-9]{1,10}$/.test(text)) return Number(text) <= TTL_SECONDS_MAX ? Number(text) : null;
  if (!/^(?:[0-9]{1,10}[smhdw])+$/i.test(text)) return null;
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(/([0-9]+)([a-z])/gi)) {
    seconds += Number(count) * (UNIT_SECONDS[(unit ?? 's').toLowerCase()] ?? 1);
  }
  return seconds <= TTL_SECONDS_MAX ? seconds : null;
}

/** A record's value in the form that `parseValue` reads. */
export function formatValue(data: RecordData): string {
  if (data.type === 'TXT') return Buffer.from(data.strings.join(''), 'latin1').toString('utf8');
  return formatData(data, spokenName);
}

/** A record's value as in a zone file; names relative to `origin` if given, else absolute. */
export const formatZoneValue = (data: RecordData, origin?: DomainName): string =>
  formatData(data, origin === undefined ? absoluteText : (name) => relativeText(name, origin));

/** A record as one line of a zone file: `www.example. 3600 IN A 192.0.2.1`. */
export function formatRecord(record: ResourceRecord, origin?: DomainName): string {
  const owner = origin === undefined ? absoluteText(record.name) : relativeText(record.name, origin);
  return `${owner} ${record.ttlSeconds} IN ${record.data.type} ${formatZoneValue(record.data, origin)}`;
}

function formatData(data: RecordData, name: (name: DomainName) => string): string {
  if ('octets' in data) return formatUnknown(data.octets);
  const values = (fieldsOf(data.type) ?? []).map(([field, { format }]) => format(valueIn(data, field), name));
  return values.filter((text) => text !== '').join(' ');
}

/** RFC 3597 §5. */
function formatUnknown(octets: string): string {
  const hex = Buffer.from(octets, 'latin1').toString('hex').toUpperCase();
  return `\\# ${octets.length} ${hex}`.trimEnd();
}

import { labelOctets, ROOT, wireName, type DomainName } from '../../model/dns-name.ts';
import type { FieldWriter } from './field.ts';
import { fieldsOf, valueIn } from './record-fields.ts';
import { CLASS_IN, codeOfType, type RecordData, type RRset } from './record.ts';

/** Writes names and data into a string of octets, without compression. */
export class OctetWriter implements FieldWriter {
  octets = '';

  octet(value: number): void {
    this.octets += String.fromCharCode(value & 0xff);
  }

  uint16(value: number): void {
    this.octet(value >>> 8);
    this.octet(value);
  }

  uint32(value: number): void {
    this.uint16(value >>> 16);
    this.uint16(value & 0xffff);
  }

  name(name: DomainName): void {
    this.text(wireName(name).toString('latin1'));
  }

  text(octets: string): void {
    this.octets += octets;
  }
}

/** The octets that `write` produces. */
export function octetsOf(write: (to: OctetWriter) => void): string {
  const writer = new OctetWriter();
  write(writer);
  return writer.octets;
}

/**
 * Types without their own format here whose data contains names, with the number of octets before the names: MD, MF,
 * MB, MG, MR, MINFO, AFSDB, RT, PX, KX. Resolvers lower the case of these names before they check a signature.
 */
const NAMES_BEGIN = new Map([
  ...[3, 4, 7, 8, 9, 14].map((code) => [code, 0] as const),
  ...[18, 21, 26, 36].map((code) => [code, 2] as const),
]);

/** A record's data in canonical form (RFC 4034 §6.2). Names of known types are already in lower case. */
export function canonicalData(data: RecordData): string {
  if ('octets' in data) {
    const begin = NAMES_BEGIN.get(codeOfType(data.type));
    if (begin === undefined) return data.octets;
    // Length octets are below the letters.
    return data.octets.slice(0, begin) + data.octets.slice(begin).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  }
  return octetsOf((to) => {
    for (const [name, field] of fieldsOf(data.type) ?? []) field.write(to, valueIn(data, name));
  });
}

/** The signed form of an RRset (RFC 4034 §3.1.8.1): sorted by data, with the owner and TTL in the zone. */
export function canonicalRRset({ type, data }: RRset, owner: DomainName, ttlSeconds: number): string {
  const sorted = [...new Set(data.map(canonicalData))].sort(byOctets);
  return octetsOf((to) => {
    for (const octets of sorted) {
      to.name(owner);
      to.uint16(codeOfType(type));
      to.uint16(CLASS_IN);
      to.uint32(ttlSeconds);
      to.uint16(octets.length);
      to.text(octets);
    }
  });
}

const byOctets = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

/** Types as NSEC has them (RFC 4034 §4.1.2). */
export function typeBitmap(types: readonly number[]): string {
  const windows = Map.groupBy(
    [...types].sort((one, other) => one - other),
    (type) => type >>> 8,
  );
  return [...windows].map(([window, inIt]) => bitmapOf(window, inIt)).join('');
}

function bitmapOf(window: number, types: readonly number[]): string {
  const octets = new Uint8Array(((types.at(-1) ?? 0) & 0xff) / 8 + 1);
  for (const type of types) {
    const bit = type & 0xff;
    octets[bit >>> 3] = (octets[bit >>> 3] ?? 0) | (0x80 >>> (bit & 7));
  }
  return String.fromCharCode(window, octets.length, ...octets);
}

export const wildcardBelow = (encloser: DomainName): DomainName => (encloser === ROOT ? '*' : `*.${encloser}`);

/** Labels as RRSIG counts them: without the root and a leading asterisk (RFC 4034 §3.1.3). */
export function labelCount(name: DomainName): number {
  if (name === ROOT) return 0;
  return name.split('.').length - Number(name === '*' || name.startsWith('*.'));
}

/**
 * A key by which names sort in canonical order (RFC 4034 §6.1); the key of a name starts with those of the names above.
 */
export function orderKey(name: DomainName): string {
  if (name === ROOT) return '';
  const labels = name.split('.').reverse();
  return labels.map((label) => `${shifted(labelOctets(label))}\0`).join('');
}

/** Leaves 0 for the end of a label, which sorts before every octet. */
const shifted = (octets: string): string =>
  String.fromCharCode(...Array.from(octets, (octet) => octet.charCodeAt(0) + 1));

/** The lowest key that follows a name and everything below it. */
const keyAfter = (key: string): string => (key === '' ? '\uffff' : `${key.slice(0, -1)}\x01`);

/** A sorted set of names in canonical order. A change costs a binary search and a move in memory. */
export class CanonicalOrder<Item> {
  readonly #keys: string[];
  readonly #items: Item[];

  constructor(items: Iterable<readonly [DomainName, Item]>) {
    const sorted = Array.from(items, ([name, item]) => ({ key: orderKey(name), item }));
    sorted.sort((one, other) => byOctets(one.key, other.key));
    this.#keys = sorted.map(({ key }) => key);
    this.#items = sorted.map(({ item }) => item);
  }

  at(index: number): Item | undefined {
    return this.#items[index];
  }

  add(name: DomainName, item: Item): void {
    const key = orderKey(name);
    const index = this.#firstFrom(key);
    this.#keys.splice(index, 0, key);
    this.#items.splice(index, 0, item);
  }

  remove(name: DomainName): void {
    const index = this.indexOf(name);
    this.#keys.splice(index, 1);
    this.#items.splice(index, 1);
  }

  /** The index of a name, or its insertion point. */
  indexOf(name: DomainName): number {
    return this.#firstFrom(orderKey(name));
  }

  /** The index of the last name that is not after `name`. */
  floor(name: DomainName): number {
    return this.#firstFrom(`${orderKey(name)}\0`) - 1;
  }

  /** The index after a name and all names below it. */
  endOf(name: DomainName): number {
    return this.#firstFrom(keyAfter(orderKey(name)));
  }

  #firstFrom(key: string): number {
    let low = 0;
    for (let high = this.#keys.length; low < high;) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

import type { DomainName } from '../../model/dns-name.ts';

/** RFC 1035 §3.3: a character-string of a TXT record has at most 255 octets. */
export const STRING_OCTETS_MAX = 255;

/** The words of one record's value in a zone file, consumed in order; each throws a fault in a sentence. */
export interface Words {
  address(family: 4 | 6): string;
  name(): DomainName;
  integer(what: string, max: number): number;
  duration(what: string): number;
  /** The number that the next word names, in any case; null leaves that word. */
  named(names: Readonly<Record<string, number>>): number | null;
  string(): string;
  text(): string;
  strings(): string[];
  /** The remaining words, at least one, quoted or not. */
  rest(what: string): { text: string; quoted: boolean }[];
  /** @throws the fault of the record */
  fail(what: string): never;
}

/** Reads record data of a message. */
export interface FieldReader {
  uint8(): number;
  uint16(): number;
  uint32(): number;
  name(): DomainName;
  string(): string;
  /** Octets up to `end`. */
  until(end: number): Buffer;
  isBefore(end: number): boolean;
  octets(count: number): Buffer;
  malformed(): never;
}

/** Writes record data into a message. */
export interface FieldWriter {
  octet(value: number): void;
  uint16(value: number): void;
  uint32(value: number): void;
  name(name: DomainName, compress: boolean): void;
  text(octets: string): void;
}

/** One field of a type's data: from and to a zone file, from and to the wire. */
export interface Field<Value> {
  parse(words: Words, what: string): Value;
  format(value: Value, name: (name: DomainName) => string): string;
  read(from: FieldReader, end: number): Value;
  write(to: FieldWriter, value: Value): void;
}

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

/** A location on Earth in the units of the wire (RFC 1876 §2). */
interface Location {
  size: number;
  horizontalPrecision: number;
  verticalPrecision: number;
  latitude: number;
  longitude: number;
  altitude: number;
}

/** Thousandths of a second of arc at the equator and the prime meridian, and centimetres at 100 km below sea level. */
const MIDDLE = 2 ** 31;
const GROUND = 10_000_000;
const ALTITUDE_MAX = 2 ** 32 - 1;

/** RFC 1876 §3: default size and precisions, in centimetres. */
const DEFAULTS_CM = [100, 1_000_000, 1_000] as const;

/** Degrees, minutes and seconds with an optional fraction, then a direction (RFC 1876 §3). */
function parseAngle(words: string[], [plus, minus]: readonly [string, string], max: number): number | null {
  const parts: number[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const direction = word.toUpperCase();
    if (direction === plus || direction === minus) {
      const [degrees = NaN, minutes = 0, seconds = 0] = parts;
      const angle = Math.round(((degrees * 60 + minutes) * 60 + seconds) * 1000);
      const good = Number.isInteger(degrees) && Number.isInteger(minutes) && minutes < 60 && seconds < 60;
      if (!good || !(angle <= max * 3_600_000)) return null;
      return MIDDLE + (direction === plus ? angle : -angle);
    }
    if (parts.length === 3 || !/^[0-9]{1,3}(?:\.[0-9]{1,3})?$/.test(word)) return null;
    parts.push(Number(word));
  }
  return null;
}

function metres(word: string): number | null {
  const match = /^(-?[0-9]{1,8}(?:\.[0-9]{1,2})?)m?$/i.exec(word);
  return match === null ? null : Math.round(Number(match[1]) * 100);
}

/** A number of centimetres as one digit and a power of ten, in four bits each (RFC 1876 §2). */
function precision(cm: number | null): number | null {
  if (cm === null || cm < 0 || cm > 9e9) return null;
  let power = 0;
  let base = cm;
  for (; base >= 10; power++) base = Math.floor(base / 10);
  return base * 16 + power;
}

const centimetres = (octet: number): number => (octet >>> 4) * 10 ** (octet & 15);

function parse(words: Words): Location {
  const rest = words.rest('latitude').map(({ text }) => text);
  const latitude = parseAngle(rest, ['N', 'S'], 90);
  const longitude = latitude === null ? null : parseAngle(rest, ['E', 'W'], 180);
  const height = metres(rest.shift() ?? '');
  const altitude = height === null ? NaN : height + GROUND;
  const [size = null, horizontalPrecision = null, verticalPrecision = null] = DEFAULTS_CM.map((cm) => {
    const word = rest.shift();
    return precision(word === undefined ? cm : metres(word));
  });
  if (latitude === null || longitude === null)
    return words.fail('latitude and longitude are degrees, minutes, seconds and N, S, E or W');
  const inRange = altitude >= 0 && altitude <= ALTITUDE_MAX && rest.length === 0;
  if (!inRange || size === null || horizontalPrecision === null || verticalPrecision === null) {
    return words.fail('altitude, size and precisions are metres, such as 10.00m');
  }
  return { size, horizontalPrecision, verticalPrecision, latitude, longitude, altitude };
}

function formatAngle(angle: number, [plus, minus]: readonly [string, string]): string {
  const thousandths = Math.abs(angle - MIDDLE);
  const [minutes, seconds] = [Math.floor(thousandths / 60_000), (thousandths % 60_000) / 1000];
  return `${Math.floor(minutes / 60)} ${minutes % 60} ${seconds.toFixed(3)} ${angle < MIDDLE ? minus : plus}`;
}

const inMetres = (cm: number): string => `${(cm / 100).toFixed(2)}m`;

/** The field of a location (RFC 1876). */
export const LOCATION: Field<Location> = {
  parse,
  format: ({ size, horizontalPrecision, verticalPrecision, latitude, longitude, altitude }) =>
    [
      formatAngle(latitude, ['N', 'S']),
      formatAngle(longitude, ['E', 'W']),
      inMetres(altitude - GROUND),
      ...[size, horizontalPrecision, verticalPrecision].map((octet) => inMetres(centimetres(octet))),
    ].join(' '),
  read(from) {
    if (from.uint8() !== 0) return from.malformed();
    const [size, horizontalPrecision, verticalPrecision] = [from.uint8(), from.uint8(), from.uint8()];
    if ([size, horizontalPrecision, verticalPrecision].some((octet) => octet >>> 4 > 9 || (octet & 15) > 9)) {
      return from.malformed();
    }
    const [latitude, longitude, altitude] = [from.uint32(), from.uint32(), from.uint32()];
    return { size, horizontalPrecision, verticalPrecision, latitude, longitude, altitude };
  },
  write(to, { size, horizontalPrecision, verticalPrecision, latitude, longitude, altitude }) {
    for (const octet of [0, size, horizontalPrecision, verticalPrecision]) to.octet(octet);
    for (const number of [latitude, longitude, altitude]) to.uint32(number);
  },
};

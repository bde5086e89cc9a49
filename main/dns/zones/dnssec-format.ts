import { absoluteText, readWireName, spokenName, type DomainName } from '../../model/dns-name.ts';
import { formatValue, formatZoneValue } from '../wire/record-text.ts';
import { codeOfType, QUESTION_TYPES, typeName, type RecordData, type UnknownData } from '../wire/record.ts';

/** An answered record in the format of `dig`. */
export interface Shown {
  type: string;
  /** The owner, without a trailing dot. */
  value: string;
  /** The data as in a zone file. */
  rdata: string;
}

/** The presentation format of any record of an answer. DNSSEC records are stored and read as octets. */
export function showRecord(data: RecordData): Shown {
  const code = codeOfType(data.type);
  const form = 'octets' in data ? FORMS.get(code) : undefined;
  if (form !== undefined) {
    const octets = Buffer.from((data as UnknownData).octets, 'latin1');
    const [value, rdata] = [spokenName, absoluteText].map((shown) => textOf(octets, form, shown));
    if (value !== undefined && rdata !== undefined) return { type: typeName(code), value, rdata };
  }
  return { type: data.type, value: formatValue(data), rdata: formatZoneValue(data) };
}

type NameText = (name: DomainName) => string;

/** Reads one field at an offset; throws RangeError where the data ends too early. */
type Field = (octets: Buffer, at: number, shown: NameText) => { text: string; end: number };

const integer =
  (bytes: 1 | 2 | 4): Field =>
  (octets, at) => ({ text: String(octets.readUIntBE(at, bytes)), end: at + bytes });

/** Seconds since 1970 as `YYYYMMDDHHmmSS` (RFC 4034 §3.2). */
const time: Field = (octets, at) => ({
  text: new Date(octets.readUInt32BE(at) * 1_000).toISOString().replace(/\D/g, '').slice(0, 14),
  end: at + 4,
});

const typeField: Field = (octets, at) => ({ text: typeName(octets.readUInt16BE(at)), end: at + 2 });

const nameField: Field = (octets, at, shown) => {
  const read = readWireName(octets, at);
  if (read === null) throw new RangeError('The name does not end.');
  return { text: shown(read.name), end: read.end };
};

const rest =
  (show: (octets: Buffer) => string): Field =>
  (octets, at) => ({ text: show(octets.subarray(at)), end: octets.length });

/** Octets after a length octet. */
const counted =
  (show: (octets: Buffer) => string): Field =>
  (octets, at) => {
    const end = at + 1 + octets.readUInt8(at);
    if (end > octets.length) throw new RangeError('The octets end too early.');
    return { text: show(octets.subarray(at + 1, end)), end };
  };

const hex = (octets: Buffer): string => octets.toString('hex').toUpperCase();
const base64 = (octets: Buffer): string => octets.toString('base64');

/** Base32 with the extended alphabet, without padding (RFC 4648 §7), as in RFC 5155 §3.3. */
function base32(octets: Buffer): string {
  const bits = [...octets].map((octet) => octet.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => parseInt(group.padEnd(5, '0'), 2).toString(32).toUpperCase())
    .join('');
}

/** The types of a bitmap (RFC 4034 §4.1.2). */
function typesOf(bitmap: Buffer): string {
  const types: string[] = [];
  for (let at = 0; at < bitmap.length;) {
    const [window, length] = [bitmap.readUInt8(at), bitmap.readUInt8(at + 1)];
    for (let bit = 0; bit < length * 8; bit++) {
      if ((bitmap.readUInt8(at + 2 + (bit >> 3)) & (0x80 >> (bit & 7))) !== 0) types.push(typeName(window * 256 + bit));
    }
    at += 2 + length;
  }
  return types.join(' ');
}

const [UINT8, UINT16, UINT32] = [integer(1), integer(2), integer(4)];
const KEY = [UINT16, UINT8, UINT8, rest(base64)];
const TYPES = rest(typesOf);
const NSEC3_PARAMETERS = [UINT8, UINT8, UINT16, counted((salt) => hex(salt) || '-')];

/** RFC 4034 §2 to §4, RFC 5155 §3 and §4, RFC 7344 §3. */
const FORMS: ReadonlyMap<number, readonly Field[]> = new Map([
  [QUESTION_TYPES.RRSIG, [typeField, UINT8, UINT8, UINT32, time, time, UINT16, nameField, rest(base64)]],
  [QUESTION_TYPES.NSEC, [nameField, TYPES]],
  [QUESTION_TYPES.DNSKEY, KEY],
  [QUESTION_TYPES.NSEC3, [...NSEC3_PARAMETERS, counted(base32), TYPES]],
  [QUESTION_TYPES.NSEC3PARAM, NSEC3_PARAMETERS],
  [QUESTION_TYPES.CDS, [UINT16, UINT8, UINT8, rest(hex)]],
  [QUESTION_TYPES.CDNSKEY, KEY],
]);

/** Undefined for malformed data. */
function textOf(octets: Buffer, form: readonly Field[], shown: NameText): string | undefined {
  const texts: string[] = [];
  let at = 0;
  try {
    for (const field of form) {
      const { text, end } = field(octets, at, shown);
      if (text !== '') texts.push(text);
      at = end;
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return at === octets.length ? texts.join(' ') : undefined;
}

import { domainToASCII } from 'node:url';
import { isAscii, isWithin } from '../base/text/hostname.ts';

/**
 * Domain names in normal form: absolute, lower case (RFC 4343), without the trailing dot; the root is the empty string.
 * Octets without a plain form in a label, including dots, are written `\DDD` (RFC 1035 §5.1), so every dot separates
 * two labels and every name has exactly one spelling.
 */
export type DomainName = string;

export const ROOT: DomainName = '';

/** RFC 1035 §2.3.4: octets of a label, and of a whole name on the wire including length octets and the root's zero. */
export const LABEL_OCTETS_MAX = 63;
export const NAME_OCTETS_MAX = 255;

/**
 * Characters that need no escape in a label: letters, digits, hyphens, underscores (`_dmarc`), `/` (RFC 2317), or the
 * wildcard's `*`.
 */
const PLAIN_LABEL = /^(?:[0-9a-z_/-]+|\*)$/;
const PLAIN_OCTET = /[0-9a-z_/-]/;

/** Labels that RFC 1035 §5.1 allows without an escape: printable ASCII except `. " ( ) ; \ @ $`. */
const UNESCAPED_LABEL = /^(?:(?![."();\\@$])[!-~])+$/;

export type NameResult = { ok: true; name: DomainName } | { ok: false; message: string };

/**
 * Parses a name in zone-file syntax (RFC 1035 §5.1): `@` is `origin`, a name without a trailing dot is relative to it,
 * `\DDD` and `\X` are escapes. A URL is refused, although its characters are allowed: it is a typing error. Labels in
 * other scripts become A-labels (RFC 5890).
 */
export function parseName(text: string, origin: DomainName = ROOT): NameResult {
  if (text === '@') return { ok: true, name: origin };
  if (text === '.') return { ok: true, name: ROOT };
  if (text === '') return fault('A name is missing; write "@" for the zone itself.');
  if (text.includes('://')) return fault(`"${text}" is a URL, not a name; write its host alone.`);
  const labels: string[] = [];
  const pieces = text.includes('\\') ? splitEscaped(text) : text.split('.');
  if (pieces === null)
    return fault(`"${text}" ends inside an escape; an escape is "\\" and a character or three digits.`);
  const absolute = pieces.at(-1) === '';
  if (absolute) pieces.pop();
  for (const piece of pieces) {
    const label = parseLabel(piece);
    if (!label.ok) return fault(`"${text}" is not a name: ${label.message}`);
    labels.push(label.name);
  }
  if (!absolute && origin !== ROOT) labels.push(origin);
  const name = labels.join('.');
  if (wireLength(name) > NAME_OCTETS_MAX) {
    return fault(`"${text}" is too long: a name has at most ${NAME_OCTETS_MAX} octets on the wire.`);
  }
  return { ok: true, name };
}

/** Whether a text is a name in normal form. */
export function isDomainName(text: string): boolean {
  const read = parseName(text === ROOT ? '.' : `${text}.`);
  return read.ok && read.name === text;
}

const fault = (message: string): NameResult => ({ ok: false, message });

function parseLabel(piece: string): NameResult {
  if (piece === '') return fault('a label between two dots is empty.');
  let label = piece.toLowerCase();
  if (!label.includes('\\')) {
    if (!isAscii(label)) {
      label = domainToASCII(label);
      if (label === '') return fault(`the label "${piece}" has no form in ASCII (RFC 5890).`);
    }
    if (!UNESCAPED_LABEL.test(label)) {
      return fault(
        `the label "${piece}" has a character that needs an escape: "\\" and the character, or three digits.`,
      );
    }
    if (label.length > LABEL_OCTETS_MAX) return fault(`the label "${piece}" has more than ${LABEL_OCTETS_MAX} octets.`);
    return { ok: true, name: labelFromOctets(label) };
  }
  const octets = unescape(piece);
  if (octets === null) return fault(`"\\" in "${piece}" needs a character, or three digits from 000 to 255, after it.`);
  if (octets.length > LABEL_OCTETS_MAX) return fault(`the label "${piece}" has more than ${LABEL_OCTETS_MAX} octets.`);
  return { ok: true, name: labelFromOctets(octets) };
}

/** Splits at unescaped dots; null if the text ends in a lone backslash. */
function splitEscaped(text: string): string[] | null {
  const pieces: string[] = [];
  let piece = '';
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (character === '\\') {
      if (index + 1 >= text.length) return null;
      piece += character + text.charAt(++index);
    } else if (character === '.') {
      pieces.push(piece);
      piece = '';
    } else piece += character;
  }
  pieces.push(piece);
  return pieces;
}

/**
 * Decodes escapes to octets, as one character (U+0000 to U+00FF) each; non-ASCII characters become UTF-8. Null if an
 * escape is incomplete or above 255.
 */
export function unescape(text: string): string | null {
  if (!text.includes('\\')) return isAscii(text) ? text : utf8Octets(text);
  let octets = '';
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (character !== '\\') {
      const codePoint = String.fromCodePoint(text.codePointAt(index) ?? 0);
      octets += utf8Octets(codePoint);
      index += codePoint.length - 1;
      continue;
    }
    const next = text.charAt(++index);
    if (next === '') return null;
    if (!/[0-9]/.test(next)) {
      octets += utf8Octets(next);
      continue;
    }
    const digits = text.slice(index, index + 3);
    if (!/^[0-9]{3}$/.test(digits) || Number(digits) > 255) return null;
    octets += String.fromCharCode(Number(digits));
    index += 2;
  }
  return octets;
}

/** UTF-8 as a string of octets. */
export const utf8Octets = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** One label of a `DomainName`, from its octets on the wire. */
export function labelFromOctets(octets: string): string {
  const label = asciiLowerCase(octets);
  if (PLAIN_LABEL.test(label)) return label;
  let escaped = '';
  for (const character of label) {
    escaped += PLAIN_OCTET.test(character) ? character : `\\${String(character.charCodeAt(0)).padStart(3, '0')}`;
  }
  return escaped;
}

/** `toLowerCase` would also change octets above 127, which are not letters here. */
const asciiLowerCase = (octets: string): string =>
  isAscii(octets) ? octets.toLowerCase() : octets.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

export const labelOctets = (label: string): string => (label.includes('\\') ? (unescape(label) ?? label) : label);

/**
 * Reads the uncompressed name at `start` of a message; null if it has a compression pointer or exceeds a limit. `end`
 * is the offset after the name.
 */
export function readWireName(message: Buffer, start: number): { name: DomainName; end: number } | null {
  let name = '';
  let offset = start;
  for (;;) {
    const length = message[offset];
    if (length === undefined || length > LABEL_OCTETS_MAX) return null;
    offset++;
    if (length === 0) return offset - start > NAME_OCTETS_MAX ? null : { name, end: offset };
    const end = offset + length;
    if (end > message.length || end - start >= NAME_OCTETS_MAX) return null;
    const label = labelFromOctets(message.toString('latin1', offset, end));
    name = name === '' ? label : `${name}.${label}`;
    offset = end;
  }
}

/** The name on the wire, uncompressed (RFC 1035 §3.1). */
export function wireName(name: DomainName): Buffer {
  const labels = name === ROOT ? [] : name.split('.').map((label) => Buffer.from(labelOctets(label), 'latin1'));
  return Buffer.concat([...labels.flatMap((label) => [Buffer.of(label.length), label]), Buffer.of(0)]);
}

/** The name's size on the wire, uncompressed, in octets. */
export function wireLength(name: DomainName): number {
  if (name === ROOT) return 1;
  const octets = name.includes('\\') ? name.replace(/\\[0-9]{3}/g, '?') : name;
  return octets.length + 2;
}

/**
 * Normalises names from other sources for comparison: lower case, A-labels, no trailing dot (RFC 4343, RFC 5891 §3.2).
 * Accepts everything; use `parseName` for input.
 */
export function dnsName(text: string): DomainName {
  const lower = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();
  return isAscii(lower) ? lower : domainToASCII(lower) || lower;
}

/** The name without its first label; the root is its own parent. */
export function parentOf(name: DomainName): DomainName {
  const dot = name.indexOf('.');
  return dot < 0 ? ROOT : name.slice(dot + 1);
}

export const isAtOrBelow = (name: DomainName, apex: DomainName): boolean => apex === ROOT || isWithin(name, apex);

/** The name as in zone files and `dig`: with the trailing dot. */
export const absoluteText = (name: DomainName): string => `${name}.`;

/** The name as in a sentence: the dot at its end would end that. */
export const spokenName = (name: DomainName): string => (name === ROOT ? '.' : name);

/** The name as written below `$ORIGIN origin`: `@`, relative if possible, else absolute. */
export function relativeText(name: DomainName, origin: DomainName): string {
  if (name === origin) return '@';
  if (origin === ROOT) return absoluteText(name);
  return isAtOrBelow(name, origin) ? name.slice(0, -origin.length - 1) : absoluteText(name);
}

/**
 * Octets as a quoted string of a zone file: escapes quotation marks and backslashes, and writes everything except
 * printable ASCII as `\DDD` (RFC 1035 §5.1).
 */
export function quoteOctets(octets: string): string {
  const escaped = octets.replace(/["\\]|[^ -~]/g, (octet) =>
    octet === '"' || octet === '\\' ? `\\${octet}` : `\\${String(octet.charCodeAt(0)).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}

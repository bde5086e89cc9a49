import { latin1 } from './body-document.ts';

export interface FormField {
  name: string;
  /** Undefined for a file. */
  value: string | undefined;
  file?: { name: string; type: string; bytes: number };
}

/** More are counted only. */
export const FIELDS_MAX = 500;

/** The fields of `application/x-www-form-urlencoded` (WHATWG URL Standard, section 5.1). */
export const readUrlencoded = (text: string): FormField[] =>
  [...new URLSearchParams(text.trimEnd())].map(([name, value]) => ({ name, value }));

/**
 * The fields of `multipart/form-data` (RFC 7578); undefined if the boundary of `type` is nowhere in it. The last part
 * may be cut.
 */
export function readMultipart(bytes: Uint8Array, type: string): FormField[] | undefined {
  const boundary = parameter(type, 'boundary');
  if (boundary === undefined || boundary === '') return undefined;
  const text = `\r\n${latin1(bytes)}`;
  const [, ...parts] = text.split(`\r\n--${latin1(new TextEncoder().encode(boundary))}`);
  if (parts.length === 0) return undefined;
  // The last boundary is followed by two hyphens.
  return parts.filter((part) => !part.startsWith('--')).map(readPart);
}

/** A part after its boundary, one character a byte. */
function readPart(part: string): FormField {
  const start = part.indexOf('\r\n');
  const end = part.indexOf('\r\n\r\n', start);
  const head = utf8(end < 0 ? part : part.slice(start, end));
  const content = end < 0 ? '' : part.slice(end + 4);
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? '';
  const type = /^content-type:\s*(.*?)\s*$/im.exec(head)?.[1];
  const fileName = parameter(disposition, 'filename');
  const name = parameter(disposition, 'name') ?? '';
  if (fileName === undefined) return { name, value: utf8(content) };
  return {
    name,
    value: undefined,
    file: { name: fileName, type: type ?? 'application/octet-stream', bytes: content.length },
  };
}

/** Browsers percent-encode quotation marks and line ends in names (WHATWG HTML, multipart/form-data). */
function parameter(header: string, name: string): string | undefined {
  const found = new RegExp(String.raw`;\s*${name}=(?:"((?:[^"\\]|\\.)*)|([^";\s]*))`, 'i').exec(header);
  const value = found?.[1] ?? found?.[2];
  return value?.replaceAll(/\\(["\\])/g, '$1').replaceAll(/%(22|0D|0A)/g, decodeURIComponent);
}

const utf8 = (text: string): string =>
  new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0)));

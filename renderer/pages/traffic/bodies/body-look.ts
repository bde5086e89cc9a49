import { orElse } from '../../../../main/contract/errors.ts';
import type { TrafficDetail } from '../../../../main/contract/traffic.ts';
import { layOut, readTokens, textOf, TOKEN, type Token } from '../../../shared/traffic/json-text.ts';
import { type DocumentLine, latin1 } from './body-document.ts';

export type RecordedBody = NonNullable<TrafficDetail['responseBody']>;

export type BodyView = 'tree' | 'fields' | 'events' | 'image' | 'text' | 'hex';

/** The ways to show one body, the most useful first. */
export interface BodyLook {
  views: readonly BodyView[];
  /** Its defects, in sentences. */
  notes: readonly string[];
  /** For `tree`: formatted JSON with every digit. */
  tree?: { lines: readonly DocumentLine[]; text: string };
  fields?: readonly FormField[];
  events?: readonly StreamEvent[];
  text?: string;
}

/** More would take too long to lay out. */
const TOKENS_MAX = 20_000;

const JSON_TYPE = /[/+]json\b/i;
const TEXT_TYPE = /^text\/|[/+](?:json|xml|javascript|x-www-form-urlencoded)\b/i;
const IMAGE_TYPE = /^image\//i;

/** `type`: the `Content-Type`. */
export function lookAtBody(body: RecordedBody, type: string): BodyLook {
  const { text, note } = textIn(body, type);
  const notes = note === undefined ? [] : [note];
  const views: BodyView[] = text === undefined ? ['hex'] : ['text', 'hex'];
  const base = { notes, ...(text !== undefined && { text }) };
  if (IMAGE_TYPE.test(type)) return { ...base, views: ['image', ...views] };
  const fields = readForm(body, type, text);
  if (fields !== undefined) return { ...base, fields, views: ['fields', ...views] };
  if (text === undefined) return { ...base, views };
  if (/^text\/event-stream\b/i.test(type)) return { ...base, events: readEvents(text), views: ['events', ...views] };
  // Some servers send JSON with another content type.
  if (!JSON_TYPE.test(type) && !/^\s*[[{]/.test(text)) return { ...base, views };
  const tokens = body.cut ? readTruncated(text) : readTokens(text);
  if (tokens === undefined) {
    return { ...base, views, notes: JSON_TYPE.test(type) && !body.cut ? [...notes, faultOf(text)] : notes };
  }
  if (tokens.length > TOKENS_MAX) {
    return { ...base, views, notes: [...notes, 'It has too many values for a tree, so it is shown as text.'] };
  }
  const lines = layOut(tokens);
  return { ...base, tree: { lines, text: textOf(lines) }, views: ['tree', ...views] };
}

/** A body as text in its charset; undefined for binary content. */
function textIn(body: RecordedBody, type: string): { text?: string; note?: string } {
  if (body.encoding === 'utf8') return { text: body.text };
  const charset = /;\s*charset="?([^;"\s]+)/i.exec(type)?.[1];
  if (charset === undefined) {
    return TEXT_TYPE.test(type)
      ? { text: decode(body, 'utf-8') ?? '', note: 'It is not valid UTF-8: � replaces each invalid byte.' }
      : {};
  }
  const text = decode(body, charset);
  return text === undefined
    ? { note: `Its charset “${charset.slice(0, 40)}” is unknown, so it is shown as bytes.` }
    : { text };
}

const decode = (body: RecordedBody, charset: string): string | undefined =>
  orElse(() => new TextDecoder(charset).decode(bytesOf(body)), undefined);

export const bytesOf = ({ text, encoding }: Pick<RecordedBody, 'text' | 'encoding'>): Uint8Array<ArrayBuffer> =>
  encoding === 'utf8'
    ? new TextEncoder().encode(text)
    : Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

function readForm(body: RecordedBody, type: string, text: string | undefined): FormField[] | undefined {
  if (/^multipart\/form-data\b/i.test(type)) return readMultipart(bytesOf(body), type);
  return /^application\/x-www-form-urlencoded\b/i.test(type) && text !== undefined ? readUrlencoded(text) : undefined;
}

function faultOf(text: string): string {
  try {
    JSON.parse(text);
    return 'It nests deeper than 100 levels, so it is shown as text.';
  } catch (error) {
    return `It is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** An event of `text/event-stream` (WHATWG HTML, section 9.2). */
export interface StreamEvent {
  id: string | undefined;
  /** `message` unless named. */
  type: string;
  data: string;
}

/** The events of a stream; one that has not ended is left out, as in a browser. */
export function readEvents(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  const blocks = text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n\n')
    .slice(0, -1);
  for (const block of blocks) {
    const fields = block.split('\n').flatMap((line) => {
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
      return name === '' ? [] : [{ name, value }];
    });
    const lastOf = (wanted: string): string | undefined => fields.findLast(({ name }) => name === wanted)?.value;
    const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value);
    if (data.length > 0) events.push({ id: lastOf('id'), type: lastOf('event') || 'message', data: data.join('\n') });
  }
  return events;
}

/**
 * The tokens of a truncated JSON text up to its last comma, because the rest may be incomplete; undefined if the text
 * does not begin as JSON.
 */
export function readTruncated(text: string): Token[] | undefined {
  const texts: string[] = [];
  const scanner = new RegExp(`\\s*(${TOKEN.source})`, 'y');
  for (let found = scanner.exec(text); found !== null; found = scanner.exec(text)) texts.push(found[1] ?? '');
  const whole = texts.slice(0, Math.max(0, texts.lastIndexOf(',')));
  const tokens = readTokens(whole.join('') + closingOf(whole));
  return tokens && [...tokens.slice(0, whole.length), { kind: 'punctuation', text: ',' }];
}

/** The brackets that close everything left open by some tokens. */
function closingOf(texts: readonly string[]): string {
  const closing: string[] = [];
  for (const text of texts) {
    if (text === '{') closing.push('}');
    else if (text === '[') closing.push(']');
    else if (text === '}' || text === ']') closing.pop();
  }
  return closing.toReversed().join('');
}

export interface FormField {
  name: string;
  /** Undefined for a file. */
  value: string | undefined;
  file?: { name: string; type: string; bytes: number };
}

/** More are counted only. */
export const FIELDS_MAX = 500;

/** The fields of `application/x-www-form-urlencoded` (WHATWG URL Standard, section 5.1). */
const readUrlencoded = (text: string): FormField[] =>
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

import type { TrafficDetail } from '../../../../main/contract/traffic.ts';
import { layOut, readTokens, textOf, TOKEN, type Token } from '../../../shared/traffic/json-text.ts';
import type { DocumentLine } from './body-document.ts';
import { readMultipart, readUrlencoded, type FormField } from './form-data.ts';

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

function decode(body: RecordedBody, charset: string): string | undefined {
  try {
    return new TextDecoder(charset).decode(bytesOf(body));
  } catch {
    return undefined;
  }
}

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

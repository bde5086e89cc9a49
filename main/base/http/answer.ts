import {
  type DrainBounds,
  cutOff,
  drain,
  hasUnreadBody,
  type HttpExchange,
  asHttp1,
  isHttp2,
  pairsOf,
} from './message.ts';
import { STATUS_CODES } from 'node:http';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Body {
  text: string;
  /** `latin1` for ASCII text: the same bytes, written without conversion. */
  encoding: 'latin1' | 'utf8';
  /** The length in bytes, for Content-Length. */
  length: string;
}

export interface Answer {
  status: number;
  /** Null for 204. */
  body: Body | null;
  /** Flat: name, value, name, value, … */
  headers: readonly string[];
  /** Whether to close the connection afterwards (HTTP/1.x only). */
  close: boolean;
}

export function bodyOf(text: string): Body {
  const bytes = Buffer.byteLength(text);
  // Each non-ASCII character has more UTF-8 bytes than UTF-16 units, so equal counts mean ASCII.
  return { text, encoding: bytes === text.length ? 'latin1' : 'utf8', length: String(bytes) };
}

/**
 * Writes `answer` once; later calls and disconnected clients are ignored. One `writeHead` and one `end` result in one
 * packet. If part of the request body is still to come, sends the whole answer but ends the response only after
 * draining the body: closing an HTTP/1.1 connection with unread bytes causes a reset, which can overtake the answer.
 * `bounds` null: no draining.
 * @returns whether it was written.
 */
export function sendAnswer(exchange: HttpExchange, answer: Answer, bounds: DrainBounds | null): boolean {
  const { request } = exchange;
  const response = asHttp1(exchange.response);
  if (response.headersSent || response.destroyed) return false;
  const unread = bounds !== null && hasUnreadBody(request);
  const body = request.method === 'HEAD' ? null : answer.body;
  // RFC 9112 §9.6: a body that is announced to exceed the limit will end the connection.
  const isTooLong = unread && Number(request.headers['content-length']) > bounds.bytesMax;
  const close = (answer.close || isTooLong) && !isHttp2(request);
  // Node does not modify the array.
  response.writeHead(answer.status, close ? [...answer.headers, 'Connection', 'close'] : (answer.headers as string[]));
  if (!unread) {
    if (body === null) response.end();
    else response.end(body.text, body.encoding);
    return true;
  }
  if (body === null) response.flushHeaders();
  else response.write(body.text, body.encoding);
  drain(request, bounds, (outcome) => {
    response.end();
    if (outcome === 'bound') cutOff(request);
  });
  return true;
}

/**
 * A complete HTTP/1.1 response with `fields` (name, value, …) and a JSON body, which closes the connection. For
 * sockets without a response object, for example after a malformed request.
 */
export function rawResponse(status: number, fields: readonly string[], json: string): string {
  const body = bodyOf(json);
  const headers = ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', body.length, ...fields];
  return rawAnswer({ status, body, headers });
}

/** `answer` as a complete HTTP/1.1 response, which closes the connection. */
export function rawAnswer({ status, headers, body }: Omit<Answer, 'close'>): string {
  const lines = [...pairsOf(headers), ['Connection', 'close']].map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body?.text ?? ''}`;
}

const NO_HEADERS: readonly string[] = [];

export function success(status: 200 | 201, body: Body, headers: readonly string[] = NO_HEADERS): Answer {
  return { status, body, headers, close: false };
}

export const noContent = (headers: readonly string[]): Answer => ({ status: 204, body: null, headers, close: false });

/** A page for a browser: plain text, except for its content. */
export interface Page {
  title: string;
  /** A status, in the corner; empty for none. */
  corner: string;
  heading: string;
  message: string;
  /** HTML. */
  content: string;
}

/** Pages from a template without scripts or external assets. */
export type PageTemplate = ReturnType<typeof loadPageTemplate>;

const TEMPLATE_FILE = 'page.html';
const PLACEHOLDERS = ['title', 'corner', 'heading', 'message', 'content'] as const;

/**
 * Reads the template from `directory` (`resources/pages`).
 * @throws Error if the template, a placeholder or its style is missing, which means a broken installation.
 */
export function loadPageTemplate(directory: string) {
  const file = join(directory, TEMPLATE_FILE);
  const template = readFileSync(file, 'utf8');
  for (const name of PLACEHOLDERS) {
    if (!template.includes(`{{${name}}}`)) throw new Error(`The page template ${file} has no {{${name}}}.`);
  }
  const style = /<style>([\s\S]*?)<\/style>/.exec(template)?.[1];
  if (style === undefined) throw new Error(`The page template ${file} has no <style>.`);
  const styleHash = hash('sha256', style, 'base64');
  return {
    /** Allows only the template's own style. */
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    render({ content, ...texts }: Page): string {
      const values: Record<string, string> = { content };
      for (const [name, text] of Object.entries(texts)) values[name] = escapeHtml(text);
      // A single replace pass leaves values that look like placeholders untouched.
      return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
    },
  };
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes `text` for element content and quoted attribute values. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

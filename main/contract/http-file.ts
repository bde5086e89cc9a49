/**
 * Files of requests in the format of the REST Client of VS Code and of the HTTP client of JetBrains (`.http`): requests
 * separated by lines that begin with `###`, variables `@name = value`, and their uses `{{name}}`; and lines that begin
 * with `??`, which httpYac reads as assertions about the response. The engine checks such texts; the page also reads
 * and writes them.
 */

export interface HttpRequest {
  /** What follows `###`; one line. */
  name: string;
  method: string;
  /** A URL or a path, as written: `{{baseUrl}}/pets?limit=5`. */
  target: string;
  headers: readonly { name: string; value: string }[];
  body?: string;
  /** Assertions about the response, without their `??`. */
  checks?: readonly string[];
}

export interface HttpBlock extends HttpRequest {
  /** From its `###`, or the beginning of the text, to the next. */
  from: number;
  to: number;
  /** Why it cannot be sent from here. */
  fault?: string;
}

export interface HttpFile {
  variables: Readonly<Record<string, string>>;
  requests: readonly HttpBlock[];
}

const BLOCK = /^###.*$/gm;
const VARIABLE = /^@([A-Za-z_][\w-]*)[ \t]*=[ \t]*(.*)$/;
const COMMENT = /^(?:#|\/\/)/;
const NAME = /^(?:#|\/\/)[ \t]*@name[ \t]+(.+)$/;
const REQUEST_LINE = /^(?:([A-Z]+)[ \t]+)?(\S.*?)(?:[ \t]+HTTP\/\d(?:\.\d)?)?$/;
const CHECK = /^\s*\?\?\s*(\S.*)$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*)$/;

/** Reads the variables and requests of a text; comments stay where they are in it. */
export function readHttpFile(text: string): HttpFile {
  const starts = [...text.matchAll(BLOCK)].map(({ index }) => index);
  const begins = starts[0] === 0 ? starts : [0, ...starts];
  const variables: Record<string, string> = {};
  const requests = begins.flatMap((from, index) => {
    const to = begins[index + 1] ?? text.length;
    const block = readBlock(text.slice(from, to), variables);
    return block === null ? [] : [{ ...block, from, to }];
  });
  return { variables, requests };
}

function readBlock(text: string, variables: Record<string, string>): Omit<HttpBlock, 'from' | 'to'> | null {
  const all = text.split(/\r?\n/);
  const checks = all.flatMap((line) => CHECK.exec(line)?.[1]?.trim() ?? []);
  const lines = all.filter((line) => !CHECK.test(line));
  let name = '';
  let at = 0;
  for (; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim();
    const variable = VARIABLE.exec(line);
    if (line.startsWith('###')) name = line.replace(/^#+/, '').trim();
    else if (variable !== null) variables[variable[1] ?? ''] = (variable[2] ?? '').trim();
    else if (line !== '' && !COMMENT.test(line)) break;
    else name = NAME.exec(line)?.[1]?.trim() ?? name;
  }
  const first = REQUEST_LINE.exec((lines[at] ?? '').trim());
  if (first === null) return null;
  let target = first[2] ?? '';
  for (at++; /^\s*[?&]/.test(lines[at] ?? ''); at++) target += (lines[at] ?? '').trim();
  const headers: { name: string; value: string }[] = [];
  let fault: string | undefined;
  for (; at < lines.length && (lines[at] ?? '').trim() !== ''; at++) {
    const line = (lines[at] ?? '').trim();
    const header = HEADER.exec(line);
    if (header !== null) headers.push({ name: header[1] ?? '', value: header[2] ?? '' });
    else if (!COMMENT.test(line)) fault ??= `“${line.slice(0, 80)}” is not a header field.`;
  }
  const body = lines
    .slice(at + 1)
    .join('\n')
    .trimEnd();
  if (/^<@?[ \t]+\S|^[<>][ \t]*\{%/m.test(body))
    fault ??= 'It has a script, or a file as its body, which Vivarium does not support.';
  const method = first[1] ?? 'GET';
  return {
    name: name || `${method} ${target}`,
    method,
    target,
    headers,
    ...(body !== '' && { body }),
    ...(checks.length > 0 && { checks }),
    ...(fault !== undefined && { fault }),
  };
}

/** The text without a request; the variables defined above it stay. */
export function withoutRequest(text: string, { from, to }: Pick<HttpBlock, 'from' | 'to'>): string {
  const lines = text.slice(from, to).split(/\r?\n/);
  const begins = lines.findIndex((line) => !/^\s*(?:@|#|\/\/|$)/.test(line));
  const variables = lines.slice(0, begins).filter((line) => VARIABLE.test(line.trim()));
  const kept = variables.length === 0 ? '' : [...(from === 0 ? [] : ['###']), ...variables, '', ''].join('\n');
  return text.slice(0, from) + kept + text.slice(to);
}

/** A text followed by another one, whose first lines do not become part of the last request. */
export function joinTexts(text: string, added: string): string {
  if (text.trim() === '') return added;
  return `${text.trimEnd()}\n\n${/^\s*###/.test(added) ? '' : '###\n'}${added}`;
}

export function writeRequest({ name, method, target, headers, body, checks = [] }: HttpRequest): string {
  const canHold = body === undefined || !/^###/m.test(body);
  return [
    `### ${name.replace(/\s+/g, ' ').trim()}`,
    ...(canHold ? [] : ['# Without its body, in which a line begins with ###.']),
    `${method} ${target}`,
    ...headers.map((header) => `${header.name}: ${header.value}`),
    ...(body === undefined || !canHold ? [] : ['', body.trimEnd()]),
    ...(checks.length === 0 ? [] : ['', ...checks.map((check) => `?? ${check}`)]),
    '',
    '',
  ].join('\n');
}

/** How deep values may refer to other variables. */
const DEPTH_MAX = 10;

/** The text with values in place of `{{name}}`, and the names that have none. */
export function fillVariables(
  text: string,
  variables: Readonly<Record<string, string>>,
): { text: string; missing: string[] } {
  const missing = new Set<string>();
  const fill = (part: string, depth: number): string =>
    part.replace(/\{\{\s*([$\w][\w.$ -]*?)\s*\}\}/g, (use, name: string) => {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
      if (value !== undefined && depth < DEPTH_MAX) return fill(value, depth + 1);
      missing.add(name);
      return use;
    });
  return { text: fill(text, 0), missing: [...missing] };
}

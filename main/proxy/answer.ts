import { type Answer, bodyOf, escapeHtml, loadPageTemplate } from '../base/http/answer.ts';
import type { HttpRequest } from '../base/http/message.ts';
import { originOf } from '../base/text/hostname.ts';
import { type Problem, problemAnswer } from '../model/problem.ts';
import type { Redirect } from '../model/route.ts';
import type { Listener } from './front/connection.ts';
import { ALLOWED_METHODS } from './problem.ts';

const SERVED_IN_PAGE_MAX = 100;
const SERVED_IN_MESSAGE_MAX = 10;

/** To `OPTIONS *` (RFC 9110 §9.3.7). */
export const OPTIONS_ANSWER: Answer = {
  status: 200,
  headers: ['Allow', ALLOWED_METHODS, 'Content-Length', '0'],
  body: bodyOf(''),
  close: false,
};

export function redirectAnswer(status: Redirect['status'], location: string): Answer {
  const body = bodyOf(`This hostname redirects to ${location}\n`);
  const headers = ['Location', location, 'Content-Type', 'text/plain; charset=utf-8', 'Content-Length', body.length];
  return { status, headers, body, close: false };
}

/** The answer depends on `Accept` and on the current route table, so caches must not keep it. */
const COMMON_HEADERS = ['Vary', 'Accept', 'Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];

/** Renders a problem as an HTML page if `Accept` prefers text/html, else as the Error body. */
export function renderProblem(
  problem: Problem,
  { headers: { accept } }: Pick<HttpRequest, 'headers'>,
  listener: Listener,
  pages: ErrorPages,
): Answer {
  if (!prefersHtml(accept)) {
    const answer = problemAnswer({ ...problem, message: messageAt(listener, problem) });
    return withFields(answer, ['Content-Type', 'application/json; charset=utf-8']);
  }
  const { status, heading, message, headers, close } = problem;
  const body = bodyOf(
    pages.render({ status, heading, message, served: problem.listServed ? listServed(listener) : null }),
  );
  return withFields({ status, body, headers, close }, [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Security-Policy',
    pages.contentSecurityPolicy,
    'Referrer-Policy',
    'no-referrer',
  ]);
}

function withFields(answer: Answer, fields: readonly string[]): Answer {
  const length = answer.body === null ? [] : ['Content-Length', answer.body.length];
  return { ...answer, headers: [...COMMON_HEADERS, ...fields, ...answer.headers, ...length] };
}

function listServed({ scheme, port, table }: Listener): ErrorPage['served'] {
  const served = table().served(SERVED_IN_PAGE_MAX);
  if (served === null) return null;
  const { hostnames, total } = served;
  return {
    links: hostnames.map((hostname) => ({ url: `${originOf(scheme, hostname, port)}/`, text: hostname })),
    more: total - hostnames.length,
  };
}

/** The message of a problem, with the hostnames that it lists in one sentence. */
export function messageAt({ scheme, port, table }: Listener, { message, listServed }: Problem): string {
  const served = listServed ? table().served(SERVED_IN_MESSAGE_MAX) : null;
  if (served === null) return message;
  const { hostnames, total } = served;
  if (total === 0) return `${message} Nothing is served here yet. Create a project first.`;
  const more = total > hostnames.length ? ` and ${total - hostnames.length} more` : '';
  return `${message} Served here: ${hostnames.map((hostname) => originOf(scheme, hostname, port)).join(', ')}${more}.`;
}

/** Limit on the media ranges read from one Accept field; the rest are ignored. */
const MEDIA_RANGES_MAX = 32;

const HTML = ['text/html', 'text/*', '*/*'];
const JSON_TYPE = ['application/json', 'application/*', '*/*'];

/**
 * Whether `accept` (RFC 9110 §12.5.1) prefers text/html to application/json. Defaults to JSON on equal weights, a bare
 * wildcard, or no Accept header: only browsers name HTML.
 */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes('html')) return false;
  const ranges = new Map<string, number>();
  for (const part of accept.toLowerCase().split(',', MEDIA_RANGES_MAX)) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    ranges.set(range, quality(parameters));
  }
  return weight(ranges, HTML) > weight(ranges, JSON_TYPE);
}

/** The weight of the most specific matching range. */
function weight(ranges: ReadonlyMap<string, number>, candidates: readonly string[]): number {
  const range = candidates.find((candidate) => ranges.has(candidate));
  return range === undefined ? 0 : (ranges.get(range) ?? 0);
}

function quality(parameters: readonly string[]): number {
  const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (text === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}

/** Content of an error page, as plain text; rendering escapes it. */
interface ErrorPage {
  status: number;
  heading: string;
  message: string;
  /** Links to served hostnames, and how many more exist. */
  served: { links: readonly { url: string; text: string }[]; more: number } | null;
}

/** Error pages for browsers. @throws Error as `loadPageTemplate` */
export function loadErrorPages(directory: string) {
  const { contentSecurityPolicy, render } = loadPageTemplate(directory);
  return {
    contentSecurityPolicy,
    render: ({ status, heading, message, served }: ErrorPage): string =>
      render({
        ...{ heading, message },
        title: `${status} ${heading}`,
        corner: String(status),
        content: renderServed(served),
      }),
  };
}

export type ErrorPages = ReturnType<typeof loadErrorPages>;

function renderServed(served: ErrorPage['served']): string {
  if (served === null) return '';
  if (served.links.length === 0) return '<p>Nothing is served here yet. Create a project in Vivarium first.</p>';
  const items = served.links.map(({ url, text }) => `<li><a href="${escapeHtml(url)}">${escapeHtml(text)}</a></li>`);
  const more = served.more > 0 ? `<p>And ${served.more} more.</p>` : '';
  return `<h2>Served here</h2>\n<ul>\n${items.join('\n')}\n</ul>\n${more}`;
}

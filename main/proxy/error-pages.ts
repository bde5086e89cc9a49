import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Content of an error page, as plain text; rendering escapes it. */
interface ErrorPage {
  status: number;
  heading: string;
  message: string;
  /** Links to served hostnames, and how many more exist. */
  served: { links: readonly { url: string; text: string }[]; more: number } | null;
}

/** Error pages for browsers, from a template without scripts or external assets. */
export interface ErrorPages {
  render(page: ErrorPage): string;
  /** Allows only the template's own style. */
  contentSecurityPolicy: string;
}

const TEMPLATE_FILE = 'error.html';
const PLACEHOLDERS = ['title', 'status', 'heading', 'message', 'served'] as const;

/**
 * Reads the template from `directory` (`resources/pages`).
 * @throws Error if the template, a placeholder or its style is missing, which means a broken installation.
 */
export function loadErrorPages(directory: string): ErrorPages {
  const file = join(directory, TEMPLATE_FILE);
  const template = readFileSync(file, 'utf8');
  for (const name of PLACEHOLDERS) {
    if (!template.includes(`{{${name}}}`)) throw new Error(`The page template ${file} has no {{${name}}}.`);
  }
  const style = /<style>([\s\S]*?)<\/style>/.exec(template)?.[1];
  if (style === undefined) throw new Error(`The page template ${file} has no <style>.`);
  const styleHash = hash('sha256', style, 'base64');
  return {
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    render: (page) => fill(template, page),
  };
}

function fill(template: string, page: ErrorPage): string {
  const values: Record<string, string> = {
    title: escapeHtml(`${page.status} ${page.heading}`),
    status: String(page.status),
    heading: escapeHtml(page.heading),
    message: escapeHtml(page.message),
    served: renderServed(page.served),
  };
  // A single replace pass leaves values that look like placeholders untouched.
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}

function renderServed(served: ErrorPage['served']): string {
  if (served === null) return '';
  if (served.links.length === 0) return '<p>Nothing is served here yet. Create a project in Vivarium first.</p>';
  const items = served.links.map(({ url, text }) => `<li><a href="${escapeHtml(url)}">${escapeHtml(text)}</a></li>`);
  const more = served.more > 0 ? `<p>And ${served.more} more.</p>` : '';
  return `<h2>Served here</h2>\n<ul>\n${items.join('\n')}\n</ul>\n${more}`;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes `text` for element content and quoted attribute values. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

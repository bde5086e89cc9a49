import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prefersHtml, loadErrorPages } from '../../../main/proxy/answer.ts';
import { PAGES_DIRECTORY } from '../../support/proxy/proxy-harness.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test.each([
  ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', true],
  ['HTML alone', 'text/html', true],
  ['capitals', 'TEXT/HTML', true],
  ['HTML over JSON', 'application/json;q=0.5, text/html', true],
  ['HTML over a wildcard', 'text/html, */*;q=0.1', true],
  ['JSON over HTML', 'text/html;q=0.5, application/json', false],
  ['both the same', 'text/html, application/json', false],
  ['JSON by wildcard', 'text/html;q=0.5, */*', false],
  ['HTML refused', 'text/html;q=0', false],
  ['an invalid quality', 'text/html;q=high', false],
  ['curl', '*/*', false],
  ['fetch with JSON', 'application/json', false],
  ['nothing', undefined, false],
  ['an empty field', '', false],
  ['HTML far behind', `${'a/b,'.repeat(40)}text/html`, false],
])('%s', (_, accept, expected) => {
  expect(prefersHtml(accept)).toBe(expected);
});

const pages = loadErrorPages(PAGES_DIRECTORY);
const page = { status: 404, heading: 'Nothing here', message: 'Attach it.', served: null };

test('shows status, heading and message, and none of the template’s placeholders', () => {
  const html = pages.render(page);
  expect(html).toContain('<title>404 Nothing here · Vivarium</title>');
  expect(html).toContain('<h1>Nothing here</h1>');
  expect(html).toContain('Attach it.');
  expect(html).not.toContain('{{');
});

test('escapes everything that comes from outside', () => {
  const nasty = `<script>alert('x' & "y")</script>{{message}}`;
  const html = pages.render({
    ...page,
    heading: nasty,
    message: nasty,
    served: { links: [{ url: `http://a/"onclick="x`, text: nasty }], more: 0 },
  });
  expect(html).not.toContain('<script');
  expect(html).not.toContain('"onclick');
  expect(html).toContain('&lt;script&gt;alert(&#39;x&#39; &amp; &quot;y&quot;)&lt;/script&gt;{{message}}');
});

test('lists the served hostnames as links, and the number of further ones', () => {
  const html = pages.render({ ...page, served: { links: [{ url: 'http://a.test:8080/', text: 'a.test' }], more: 7 } });
  expect(html).toContain('<a href="http://a.test:8080/">a.test</a>');
  expect(html).toContain('And 7 more.');
  expect(pages.render({ ...page, served: { links: [], more: 0 } })).toContain('Nothing is served here yet');
});

test('the policy allows the page’s own style, by its hash, and nothing else', () => {
  const style = /<style>([\s\S]*)<\/style>/.exec(pages.render(page))?.[1] ?? '';
  expect(pages.contentSecurityPolicy).toContain(`style-src 'sha256-${hash('sha256', style, 'base64')}'`);
  expect(pages.contentSecurityPolicy).toContain(`default-src 'none'`);
  expect(pages.render(page)).not.toMatch(/\sstyle=|src=|@import|url\(/);
});

test('a template without one of its placeholders is refused by name', () => {
  const directory = temporaryFolder();
  writeFileSync(join(directory, 'page.html'), '<style></style>{{title}}{{corner}}{{heading}}{{content}}');
  expect(() => loadErrorPages(directory)).toThrow('{{message}}');
});

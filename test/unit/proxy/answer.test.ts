import { expect, test } from 'vitest';
import { prefersHtml } from '../../../main/proxy/answer.ts';

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
  ['a quality that is none', 'text/html;q=high', false],
  ['curl', '*/*', false],
  ['fetch with JSON', 'application/json', false],
  ['nothing', undefined, false],
  ['an empty field', '', false],
  ['HTML far behind', `${'a/b,'.repeat(40)}text/html`, false],
])('%s', (_, accept, expected) => {
  expect(prefersHtml(accept)).toBe(expected);
});

import { expect, it } from 'vitest';
import { toInputIssues, type SchemaIssue } from '../../../main/contract/issues.ts';
import { target, targetInput } from '../../../main/contract/projects.ts';

const complaints = (url: string): string[] => {
  const read = target.safeParse({ kind: 'upstream', url });
  return read.success ? [] : read.error.issues.map(({ message }) => message);
};

it.each(['http://localhost:3000', 'https://example.test/base/', 'http://[::1]:3000', 'http://127.0.0.1'])(
  '%s can be an upstream',
  (url) => {
    expect(complaints(url)).toEqual([]);
  },
);

it.each([
  ['127.0.0.1:3000', /URL/],
  ['localhost:3000', /URL/],
  ['http://127.0.0.1:99999', /URL/],
  ['ftp://127.0.0.1', /URL/],
  ['http://127.0.0.1:0', /port from 1 to 65535/],
  ['http://user:word@127.0.0.1', /user name or password/],
  ['http://127.0.0.1/?q', /query or fragment/],
  ['http://127.0.0.1/#f', /query or fragment/],
])('%s cannot be an upstream, for one reason', (url, reason) => {
  expect(complaints(url)).toEqual([expect.stringMatching(reason)]);
});

it.each([
  ['/', true],
  ['/healthz?deep=1', true],
  ['healthz', false],
  ['http://other/', false],
  ['/a b', false],
  ['/a#b', false],
  ['/a\\b', false],
  ['/a\r\nX: y', false],
])('%j can be the path that a deploy requests: %s', (checkPath, can) => {
  expect(target.safeParse({ kind: 'upstream', url: 'http://a', checkPath }).success).toBe(can);
});

it.each([
  ['5173', 'http://localhost:5173'],
  ['localhost:3000', 'http://localhost:3000'],
  ['localhost:3000/', 'http://localhost:3000/'],
  ['localhost:3000/base', 'http://localhost:3000/base'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['[::1]:3000', 'http://[::1]:3000'],
  ['http://localhost:3000/base', 'http://localhost:3000/base'],
  ['https://example.test', 'https://example.test'],
])('%s as text is the upstream %s', (text, url) => {
  expect(targetInput.parse(text)).toEqual({ kind: 'upstream', url });
});

it('"api" as text is the built-in API, and an object is accepted unchanged', () => {
  expect(targetInput.parse('api')).toEqual({ kind: 'api' });
  expect(targetInput.parse({ kind: 'upstream', url: 'http://a', limited: true })).toMatchObject({ limited: true });
});

it.each([
  [
    'vite',
    /^must be a URL such as "http:\/\/localhost:5173", a host and port such as "localhost:5173", a port such as "5173", or "api"$/,
  ],
  ['0', /port from 1 to 65535/],
  ['65536', /^must have a port from 1 to 65535, not 65536$/],
  ['999999', /^must have a port from 1 to 65535, not 999999$/],
  ['localhost:99999/', /^must have a port from 1 to 65535, not 99999$/],
  ['localhost:3000/?q', /query or fragment/],
  ['ftp://127.0.0.1', /^must be a URL/],
  ['http://user:word@127.0.0.1', /user name or password/],
])('%s as text is refused', (text, reason) => {
  const found = (targetInput.safeParse(text).error?.issues ?? []) as unknown as SchemaIssue[];
  expect(toInputIssues(found, text).issues).toEqual([{ path: '', message: expect.stringMatching(reason) as unknown }]);
});

import { expect, it } from 'vitest';
import { target } from '../../../main/contract/projects.ts';

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
])('%s cannot, for one reason', (url, reason) => {
  expect(complaints(url)).toEqual([expect.stringMatching(reason)]);
});

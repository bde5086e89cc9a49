import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { asFetch } from '../../../../../../main/base/text/request-code.ts';
import { asCurl, type CopiedRequest } from '../../../../../../main/base/text/shell.ts';
import { requestText, responseText } from '../../../../../../renderer/pages/api/trial/trial-request.ts';

const URL_OF_PETS = 'http://demo.vivarium.localhost:8080/v1/pets';
const JSON_TYPE = { name: 'Content-Type', value: 'application/json' };

const get: CopiedRequest = {
  method: 'GET',
  url: `${URL_OF_PETS}?limit=5`,
  headers: [],
  body: undefined,
  authorized: true,
};
const post: CopiedRequest = {
  method: 'POST',
  url: URL_OF_PETS,
  headers: [JSON_TYPE],
  body: `{"name": "O'Hara \\"Red\\" $HOME \`id\`", "categoryId": 9007199254740993}`,
  authorized: true,
};

describe('a request as curl', () => {
  it('has the secret by its variable, and no more than it needs', () => {
    expect(asCurl(get)).toBe(`curl -H "Authorization: Bearer $VIVARIUM_KEY" \\\n  '${URL_OF_PETS}?limit=5'`);
    expect(asCurl({ ...get, authorized: false })).toBe(`curl '${URL_OF_PETS}?limit=5'`);
    expect(asCurl({ ...get, method: 'HEAD' })).toMatch(/^curl -I /);
  });

  it('passes through a shell unchanged', () => {
    const command = asCurl(post).replace(/^curl/, "printf '%s\\n'");
    const words = execFileSync('sh', ['-c', command], { encoding: 'utf8', env: { VIVARIUM_KEY: 'viv_x', HOME: '/' } });
    expect(words.split('\n').slice(0, -1)).toEqual([
      ...['-X', 'POST', '-H', 'Authorization: Bearer viv_x', '-H', 'Content-Type: application/json'],
      ...['--data-raw', post.body, URL_OF_PETS],
    ]);
  });
});

/** The arguments that a command's program receives. */
const wordsOf = (request: CopiedRequest): string[] =>
  execFileSync('sh', ['-c', asCurl(request).replace(/^curl|(?<=\| )curl/, "printf '%s\\n'")], { encoding: 'utf8' })
    .split('\n')
    .slice(0, -1);

describe('what curl would misinterpret', () => {
  const plain = { ...get, authorized: false, url: 'http://a.test/' };

  it.each([
    ['brackets and braces', { url: 'http://a.test/?f[x]={1,2}' }, ['--globoff', 'http://a.test/?f[x]={1,2}']],
    ['dot segments in a path', { url: 'http://a.test/a/../b' }, ['--path-as-is', 'http://a.test/a/../b']],
    ['dots that are not segments', { url: 'http://a.test/a/...?x=/..' }, ['http://a.test/a/...?x=/..']],
    ['an empty field', { headers: [{ name: 'X-Empty', value: '' }] }, ['-H', 'X-Empty;', plain.url]],
    [
      'a body without a type',
      { method: 'POST', body: '@x' },
      ['-X', 'POST', '-H', 'Content-Type:', '--data-raw', '@x', plain.url],
    ],
    [
      'bytes',
      { method: 'PUT', headers: [JSON_TYPE], bytes: '/wA=' },
      ['-X', 'PUT', '-H', 'Content-Type: application/json', '--data-binary', '@-', plain.url],
    ],
  ])('%s', (_what, request, words) => {
    expect(wordsOf({ ...plain, ...request })).toEqual(words);
  });
});

describe('a request as fetch', () => {
  it('has the secret from the environment', () => {
    expect(asFetch(get)).toBe(
      `const response = await fetch('${URL_OF_PETS}?limit=5', {\n  headers: {\n    Authorization: \`Bearer \${process.env.VIVARIUM_KEY}\`,\n  },\n});`,
    );
    expect(asFetch({ ...get, authorized: false })).toBe(`const response = await fetch('${URL_OF_PETS}?limit=5');`);
  });

  it('adds no type to a body without one, and no body to GET', () => {
    expect(asFetch({ ...post, headers: [] })).toContain('body: Buffer.from(');
    expect(asFetch({ ...get, body: '{}' })).not.toContain('body');
  });

  it('has nothing that a prompt would interpret', () => {
    const body = "it's\u007f\u007f\u009b2J\u202e\u2028\ufeff\u0003\n";
    const code = asFetch({ ...post, authorized: false, body });
    expect(code).not.toMatch(/[^\n\P{C}]|[\p{Zl}\p{Zp}]/u);
    expect(
      new Function('fetch', code.replace('const response = await ', 'return '))((...args: unknown[]) => args),
    ).toEqual([URL_OF_PETS, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }]);
  });

  it('calls fetch with exactly the same values', () => {
    const code = asFetch(post).replace('const response = await ', 'return ');
    const process = { env: { VIVARIUM_KEY: 'viv_x' } };
    const headers = { Authorization: 'Bearer viv_x', 'Content-Type': 'application/json' };
    expect(new Function('fetch', 'process', code)((...args: unknown[]) => args, process)).toEqual([
      URL_OF_PETS,
      { method: 'POST', headers, body: post.body },
    ]);
  });
});

describe('an exchange as it was on the wire', () => {
  it('begins with the target as it was sent', () => {
    const request = { method: 'GET' as const, url: `${URL_OF_PETS}/../x?a=%20`, body: null };
    const headers = [{ name: 'Host', value: 'a' }];
    expect(requestText({ ...request, headers })).toBe('GET /v1/pets/../x?a=%20 HTTP/1.1\nHost: a');
  });

  it('has the original body', () => {
    const response = {
      ...{ httpVersion: '1.1', status: 201, reason: 'Created', body: '{"id":9007199254740993}' },
      headers: [JSON_TYPE, { name: 'X-RateLimit-Limit', value: '60' }],
      ...({ bodyEncoding: 'utf8', bodyBytes: 23, cut: false, firstByteMs: 1, totalMs: 2 } as const),
    };
    expect(responseText(response)).toBe(
      'HTTP/1.1 201 Created\nContent-Type: application/json\nX-RateLimit-Limit: 60\n\n{"id":9007199254740993}',
    );
  });
});

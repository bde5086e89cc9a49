import { describe, expect, it } from 'vitest';
import {
  fillVariables,
  joinTexts,
  readHttpFile,
  withoutRequest,
  writeRequest,
  type HttpRequest,
} from '../../../main/contract/http-file.ts';

const plain = (text: string) => readHttpFile(text).requests.map(({ from: _from, to: _to, ...request }) => request);
const headersOf = (fields: Record<string, string>) => Object.entries(fields).map(([name, value]) => ({ name, value }));
const UNSUPPORTED = 'It has a script, or a file as its body, which Vivarium does not support.';

/** As in the documentation of VS Code's REST Client and JetBrains' HTTP client. */
const FILE = `@hostname = localhost
@limit=5

# A comment
GET https://{{hostname}}/pets HTTP/1.1
Accept: application/json

### Add a pet
// A comment
POST {{baseUrl}}/pets
Content-Type: application/json
Authorization: Bearer {{key}}

{
  "name": "Otter",

  "categoryId": 3
}


###
# @name page
@status = sold
{{baseUrl}}/pets
    ?status={{status}}
    &limit={{limit}}
### Only a comment
# nothing
`;

describe('a file of requests', () => {
  it('is read with its variables, names, folded addresses and bodies', () => {
    expect(readHttpFile(FILE).variables).toEqual({ hostname: 'localhost', limit: '5', status: 'sold' });
    expect(plain(FILE)).toEqual([
      {
        name: 'GET https://{{hostname}}/pets',
        method: 'GET',
        target: 'https://{{hostname}}/pets',
        headers: headersOf({ Accept: 'application/json' }),
      },
      {
        name: 'Add a pet',
        method: 'POST',
        target: '{{baseUrl}}/pets',
        headers: headersOf({ 'Content-Type': 'application/json', Authorization: 'Bearer {{key}}' }),
        body: '{\n  "name": "Otter",\n\n  "categoryId": 3\n}',
      },
      { name: 'page', method: 'GET', target: '{{baseUrl}}/pets?status={{status}}&limit={{limit}}', headers: [] },
    ]);
  });

  it('gives each request its range: removing it leaves the text of the others unchanged', () => {
    const [first, second, third] = readHttpFile(FILE).requests;
    const { from = 0, to = 0 } = second ?? {};
    expect(FILE.slice(from, to)).toMatch(/^### Add a pet\n[^]*\n}\n\n\n$/);
    expect(plain(FILE.slice(0, from) + FILE.slice(to)).map(({ name }) => name)).toEqual([
      'GET https://{{hostname}}/pets',
      'page',
    ]);
    for (const request of [first, second, third]) {
      const rest = withoutRequest(FILE, request ?? { from: 0, to: 0 });
      expect(readHttpFile(rest).variables).toEqual(readHttpFile(FILE).variables);
      expect(readHttpFile(rest).requests).toHaveLength(2);
    }
  });

  it('accepts another file after it, without a change to its last request', () => {
    const both = readHttpFile(joinTexts('POST /a\n\nbody', '@b = c\n\nGET /{{b}}'));
    expect(both.variables).toEqual({ b: 'c' });
    expect(both.requests.map(({ target, body }) => [target, body])).toEqual([
      ['/a', 'body'],
      ['/{{b}}', undefined],
    ]);
    expect(joinTexts(' ', '### A')).toBe('### A');
  });

  it.each<[string, string | undefined]>([
    ['POST /pets\n\n< ./pet.json', UNSUPPORTED],
    ['GET /pets\n\n> {%\n client.log(1)\n%}', UNSUPPORTED],
    ['GET /pets\nno header', '“no header” is not a header field.'],
    ['POST /pets\n\n<b>HTML</b>', undefined],
  ])('reports what cannot be sent: %j', (text, fault) => {
    expect(readHttpFile(text).requests[0]?.fault).toBe(fault);
  });

  it.each(['', '\n\n', '###', '# only\n\n// comments', '@a = b'])('has no requests in %j', (text) => {
    expect(readHttpFile(text).requests).toEqual([]);
  });

  it('may state what its response must be, as httpYac reads it', () => {
    const text = 'POST /pets\n?? status == 201\nAccept: */*\n\n{"name": "What??"}\n\n?? header location exists\n';
    const [request] = plain(text);
    const checks = ['status == 201', 'header location exists'];
    expect(request).toEqual({
      ...{ name: 'POST /pets', method: 'POST', target: '/pets', headers: headersOf({ Accept: '*/*' }) },
      ...{ body: '{"name": "What??"}', checks },
    });
    const again = writeRequest({ ...request, name: 'a', method: 'GET', target: '/', headers: [], checks });
    expect(again).toMatch(/\{"name": "What\?\?"\}\n\n\?\? status == 201\n\?\? header location exists\n/);
    expect(plain(again)[0]?.checks).toEqual(checks);
  });

  it('is written in the form in which it is read', () => {
    const request: HttpRequest = {
      name: 'Two\nlines ',
      method: 'PUT',
      target: '{{baseUrl}}/pets/1?a=b',
      headers: [{ name: 'If-Match', value: '"1"' }],
      body: '{"id": 9007199254740993}\n',
    };
    const text = writeRequest(request);
    expect(plain(text + writeRequest({ ...request, body: '### no' }))).toEqual([
      { ...request, name: 'Two lines', body: '{"id": 9007199254740993}' },
      { name: 'Two lines', method: 'PUT', target: request.target, headers: request.headers },
    ]);
  });

  it.each([
    ['/pets?limit={{limit}}', '/pets?limit=5', []],
    ['{{ limit }}{{deep}}', '5<5>', []],
    ['{{other}} {{$guid}} {{constructor}}', '{{other}} {{$guid}} {{constructor}}', ['other', '$guid', 'constructor']],
    ['{{loop}}', '{{loop}}', ['loop']],
    ['{ {limit} } {{}}', '{ {limit} } {{}}', []],
  ])('has variables, which may use others: %s', (text, filled, missing) => {
    const variables = { limit: '5', deep: '<{{limit}}>', loop: '{{loop}}' };
    expect(fillVariables(text, variables)).toEqual({ text: filled, missing });
  });
});

import { describe, expect, it } from 'vitest';
import { fileContent } from '../../../main/cli/words/ask.ts';

describe('the file content of a result', () => {
  it.each([
    [{ text: 'www A 127.0.0.1\n' }, 'www A 127.0.0.1\n'],
    [{ format: 'pem', fileName: 'root.pem', text: '-----BEGIN' }, '-----BEGIN'],
    [{ format: 'der', fileName: 'root.der', base64: 'MIIB' }, Buffer.from([0x30, 0x82, 0x01])],
    [{ text: 'a', total: 1 }, null],
    [{ id: 'a', text: 'b' }, null],
    [{ text: 1 }, null],
    [{ fileName: 'root.pem' }, null],
    [{}, null],
    [['text'], null],
    ['text', null],
    [null, null],
  ])('in the form %j is %j', (result, content) => {
    expect(fileContent('zones.export', result)).toEqual(content);
  });

  it.each([
    ['traffic.har', { log: { entries: [] } }, '{\n  "log": {\n    "entries": []\n  }\n}\n'],
    ['domains.export', { domains: [], primary: null }, '{\n  "domains": [],\n  "primary": null\n}\n'],
    [
      'api.describe',
      { baseUrl: 'http://x/v1', document: '{"openapi":9007199254740993}' },
      '{"openapi":9007199254740993}',
    ],
    ['api.describe', { baseUrl: 'http://x/v1', document: null }, null],
  ])('of %s, %j, is %j', (procedure, result, content) => {
    expect(fileContent(procedure, result)).toEqual(content);
  });
});

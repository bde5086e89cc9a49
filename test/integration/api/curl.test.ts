import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AUTHORIZATION, DATASET, shareApiServer } from '../../support/api-server.ts';
import { run } from '../../support/dns/dns-dig.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const KEY = ['-H', `Authorization: ${AUTHORIZATION.authorization}`];
const NEW_PET = '{"name":"Rex","categoryId":7}';

const server = await shareApiServer();
server.store.pets.put(DATASET, { id: 1n, name: 'Zoë', categoryId: 9007199254740993n, status: 'sold' });

/** The last status and body that curl received. */
async function curl(protocol: '1.1' | '2', path: string, ...options: string[]) {
  const port = protocol === '2' ? server.http2Port : server.port;
  const version = protocol === '2' ? '--http2-prior-knowledge' : '--http1.1';
  const shown = ['-sS', '--max-time', '15', version, '-w', '\n%{http_code}'];
  const stdout = await run('curl', [...shown, ...options, `http://127.0.0.1:${port}${path}`]);
  const end = stdout.lastIndexOf('\n');
  return [stdout.slice(end + 1), stdout.slice(0, end)] as const;
}

const PET = '{"id":1,"name":"Zoë","categoryId":9007199254740993,"status":"sold"}';

describe.each(['1.1', '2'] as const)('curl over HTTP/%s', (protocol) => {
  test.each([
    ['lists pets, with integers exact to the last digit', '200', `[${PET}]`, '/v1/pets?limit=1', ...KEY],
    ['adds a pet', '201', '"name":"Rex","categoryId":7,"status":"available"', '/v1/pets', ...KEY, '--json', NEW_PET],
    ['names the media type to send', '415', 'application/x-www-form-urlencoded', '/v1/pets', ...KEY, '-d', NEW_PET],
    ['names the header for a key', '401', 'Authorization: Bearer', '/v1/pets'],
    ['does not wait for a body after HEAD', '200', 'X-RateLimit-Remaining: 41', '/v1/pets', ...KEY, '-I'],
  ])('%s: %s', async (_title, status, says, path, ...options) => {
    const [got, body] = await curl(protocol, path, ...options);
    expect([got, body.toLowerCase()]).toEqual([status, expect.stringContaining(says.toLowerCase())]);
  });

  test.each(['3000000', '1048577'])('reads the 413 for a body of %s bytes', async (size) => {
    const file = join(temporaryFolder(), size);
    writeFileSync(file, 'x'.repeat(Number(size)));
    const [status, body] = await curl(protocol, '/v1/pets', ...KEY, '--json', `@${file}`);
    expect([status, body]).toEqual(['413', expect.stringContaining('payload_too_large')]);
  });
});

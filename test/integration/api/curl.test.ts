import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AUTHORIZATION, DATASET, startApiServer, type ApiServer } from '../../support/api-server.ts';

const run = promisify(execFile);
const KEY = ['-H', `Authorization: ${AUTHORIZATION.authorization}`];

let server: ApiServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vivarium-api-'));
  server = await startApiServer();
  server.store.pets.put(DATASET, { id: 1n, name: 'Zoë', categoryId: 9007199254740993n, status: 'sold' });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

/** The last status and body that curl received. */
async function curl(
  protocol: '1.1' | '2',
  path: string,
  ...options: string[]
): Promise<{ status: number; body: string }> {
  const port = protocol === '2' ? server.http2Port : server.port;
  const version = protocol === '2' ? '--http2-prior-knowledge' : '--http1.1';
  const { stdout } = await run(
    'curl',
    ['-sS', '--max-time', '15', version, '-w', '\n%{http_code}', ...options, `http://127.0.0.1:${port}${path}`],
    { maxBuffer: 16 * 1024 * 1024 },
  );
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
}

describe.each(['1.1', '2'] as const)('curl over HTTP/%s', (protocol) => {
  test('lists pets, with integers exact to the last digit', async () => {
    const { status, body } = await curl(protocol, '/v1/pets?limit=1', ...KEY);
    expect({ status, body }).toEqual({
      status: 200,
      body: '[{"id":1,"name":"Zoë","categoryId":9007199254740993,"status":"sold"}]',
    });
  });

  test('adds a pet', async () => {
    const { status, body } = await curl(protocol, '/v1/pets', ...KEY, '--json', '{"name":"Rex","categoryId":7}');
    expect(status).toBe(201);
    expect(body).toContain('"name":"Rex","categoryId":7,"status":"available"');
  });

  test('without -H Content-Type gets an error that names the header to send', async () => {
    const { status, body } = await curl(protocol, '/v1/pets', ...KEY, '-d', '{"name":"Rex","categoryId":7}');
    expect(status).toBe(415);
    expect(body).toContain('application/x-www-form-urlencoded');
  });

  test('without a key gets an error that names the header to send', async () => {
    expect(await curl(protocol, '/v1/pets')).toMatchObject({
      status: 401,
      body: expect.stringContaining('Authorization: Bearer') as string,
    });
  });

  test.each(['3000000', '1048577'])('reads the 413 for a body of %s bytes', async (size) => {
    const file = join(folder, size);
    await writeFile(file, 'x'.repeat(Number(size)));
    expect(await curl(protocol, '/v1/pets', ...KEY, '--json', `@${file}`)).toMatchObject({
      status: 413,
      body: expect.stringContaining('payload_too_large') as string,
    });
  });

  test('sends HEAD without waiting for a body', async () => {
    const { status, body } = await curl(protocol, '/v1/pets', ...KEY, '-I');
    expect(status).toBe(200);
    expect(body.toLowerCase()).toContain('x-ratelimit-remaining: 41');
  });
});

import { createServer, type RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import type { TestClient } from '../../support/acme/acme-client.ts';
import { createRemoteClient } from '../../support/acme/acme-remote.ts';
import { startEngine, track } from '../../support/engine.ts';
import { freePort, listen } from '../../support/ports.ts';
import { startUpstream } from '../../support/upstream-server.ts';

/** An engine with a client, and a program that answers every challenge at the port for names that Vivarium does not serve. */
async function openSite() {
  const engine = await startEngine();
  const port = await freePort();
  await engine.call('settings.update', { acmeHttpPort: port });
  const client = createRemoteClient(engine.app.runtime);
  track(() => client.close());
  await client.register();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.host ?? '');
    answering(client)(request, response);
  });
  await listen(server, port);
  return { engine, client, asked };
}

const answering =
  (client: TestClient): RequestListener =>
  (request, response) =>
    void client.keyAuthorization(request.url?.split('/').at(-1) ?? '').then((text) => response.end(text));

async function statusOf(client: TestClient, name: string): Promise<unknown> {
  const order = await client.order([name]);
  await client.respond(order);
  const read = async () => (await client.authorizations(order))[0]?.json['status'];
  await expect.poll(read).not.toBe('pending');
  return read();
}

test('a name that Vivarium serves is proved by its project only, and any other by the program at its port', async () => {
  const { engine, client, asked } = await openSite();
  const served = ['demo.vivarium.localhost', 'www.happypaws.test'];
  for (const name of served) expect([name, await statusOf(client, name)]).toEqual([name, 'invalid']);
  expect(asked).toEqual([]);
  await engine.call('zones.create', { name: 'acme.test' });
  await engine.call('records.put', { zone: 'acme.test', name: '*', type: 'A', value: '127.0.0.1' });
  expect([await statusOf(client, 'own.acme.test'), asked]).toEqual(['valid', ['own.acme.test']]);

  const upstream = await startUpstream(answering(client));
  const target = { kind: 'upstream', url: upstream.url };
  await engine.call('projects.create', { name: 'Shop', target });
  expect(await statusOf(client, 'shop.vivarium.localhost')).toBe('valid');
});

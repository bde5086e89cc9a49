import { createServer } from 'node:http';
import type { TestClient } from '../acme/acme-client.ts';
import { createRemoteClient } from '../acme/acme-remote.ts';
import { type Engine, track } from '../engine.ts';
import { freePort } from '../ports.ts';

/** A client with an account, whose web server answers http-01 for every name of the zone acme.test. */
export async function connectClient(engine: Engine): Promise<TestClient> {
  const port = await freePort();
  await engine.call('settings.update', { acmeHttpPort: port });
  await engine.call('zones.create', { name: 'acme.test' });
  await engine.call('records.put', { zone: 'acme.test', name: '*', type: 'A', value: '127.0.0.1' });
  const client = createRemoteClient(engine.app.runtime);
  track(() => client.close());
  const server = createServer(
    (request, response) =>
      void client.keyAuthorization(request.url?.split('/').at(-1) ?? '').then((text) => response.end(text)),
  );
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  track(() => void server.close());
  await client.register({ contact: ['mailto:anna@acme.test'] });
  return client;
}

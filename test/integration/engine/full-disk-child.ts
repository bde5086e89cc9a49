/** An engine whose disk fills up: its argument is a folder on a small disk. Prints each call and its outcome as JSON. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { startApp } from '../../../main/app.ts';

const [folder = ''] = process.argv.slice(2);
const dataDir = join(folder, 'data');
const config = { dataDir, httpPort: 0, httpsPort: 0, dnsPort: 0, controlPort: 0, ephemeral: false, empty: false };
const app = await startApp({
  config,
  stateDir: dataDir,
  resourcesDir: join(import.meta.dirname, '..', '..', '..', 'resources'),
  assetsDir: null,
  logLevel: 'error',
  sealer: null,
  writeLog: () => undefined,
  machineRoot: join(folder, 'machine'),
});

async function call(procedure: string, input: object = {}): Promise<{ status: number; body: unknown }> {
  const { url, token } = app.runtime.control;
  const response = await fetch(`${url}/api/${procedure.replace('.', '/')}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(input),
  });
  return { status: response.status, body: await response.json() };
}

function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  // Down to single octets: SQLite writes pages, the token has 44.
  for (const size of [65_536, 4_096, 1]) {
    try {
      for (;;) writeSync(descriptor, Buffer.alloc(size));
    } catch {
      // Full at this size.
    }
  }
  closeSync(descriptor);
}

const CALLS: readonly [string, object][] = [
  ['access.renewToken', {}],
  ['clock.advance', { by: 'PT1H' }],
  ['clock.set', { to: '2030-01-01T00:00:00Z' }],
  ['clock.freeze', {}],
  ['snapshots.save', { name: 'one' }],
  ['backup.create', { file: join(folder, 'backup') }],
  ['projects.create', { name: 'New' }],
  ['projects.update', { projectId: 'happy-paws', name: 'Other' }],
  ['projects.remove', { projectId: 'demo' }],
  ['deploys.create', { projectId: 'demo' }],
  ['keys.create', { projectId: 'demo' }],
  ['pets.create', { projectId: 'demo', name: 'Rex', categoryId: 1 }],
  ['pets.seed', { projectId: 'demo', count: 100 }],
  ['pets.import', { projectId: 'demo', format: 'json', text: '[{"name": "Rex", "categoryId": 1}]' }],
  ['orders.create', { projectId: 'demo', petId: 1 }],
  ['zones.create', { name: 'acme.test' }],
  ['zones.dnssec', { name: 'happypaws.test', signed: true }],
  ['records.put', { zone: 'happypaws.test', name: '@', type: 'TXT', value: 'x' }],
  ['domains.attach', { projectId: 'happy-paws', hostname: 'new.happypaws.test' }],
  ['domains.verify', { hostname: 'shop.happypaws.test' }],
  ['domains.remove', { hostname: 'shop.happypaws.test' }],
  ['certificates.renew', { hostname: 'www.happypaws.test' }],
  ['ca.extend', { suffix: 'corp', confirm: true }],
  ['settings.update', { banAfter: 7 }],
  ['breaks.start', { entry: 'http.empty-response' }],
  ['drills.start', { drill: 'hammering' }],
  ['limits.reset', { projectId: 'demo' }],
  ['world.apply', { text: '{"vivarium": 1, "settings": {"banAfter": 9}}' }],
];

const read = async () => {
  const [clock, pets, projects] = [
    await call('clock.get'),
    await call('pets.list', { projectId: 'demo' }),
    await call('projects.list'),
  ];
  const { offset, frozen } = clock.body as { offset: string; frozen: boolean };
  return { offset, frozen, total: (pets.body as { total: number }).total, projects: projects.body };
};
const before = await read();
const filler = join(folder, 'filler');
fill(filler);
const outcomes: { procedure: string; status: number; message: string }[] = [];
for (const [procedure, input] of CALLS) {
  const { status, body } = await call(procedure, input);
  outcomes.push({ procedure, status, message: (body as { message?: string }).message ?? '' });
}
const after = await read();
rmSync(filler);
const healed: number[] = [];
for (const [procedure, input] of CALLS.slice(0, 5)) healed.push((await call(procedure, input)).status);
await app.stop();
process.stdout.write(JSON.stringify({ before, after, outcomes, healed }));

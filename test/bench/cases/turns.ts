import { request } from 'node:http';
import { join } from 'node:path';
import { type App, startApp } from '../../../main/app.ts';
import { type Figure, ROOT, temporaryFolder } from '../harness.ts';
import { csvOf, figureOf, importAll } from './engine-turns.ts';

/** BENCH_DOMAINS sets fewer domains for a shorter run. */
const DOMAINS = Number(process.env.BENCH_DOMAINS ?? 10_000);
const NUMBER = DOMAINS.toLocaleString('en');
const RECORDS = 100_000;
const ENTRIES = 10_000;
const SHOWN_DOMAINS = 300;
const PETS_BYTES = 10_000_000;
const CLIENTS = 16;
const DAY = 'P1D';

const CALL = { signal: undefined };

/** The longest turn of a whole engine in each of its long operations, in processor time. */
export async function turns(): Promise<Figure[]> {
  const folder = temporaryFolder();
  const app = await start(folder);
  const { services } = app;
  const figures: Figure[] = [];
  const measure = async (what: string, work: () => unknown) => {
    const figure = await figureOf(what, work);
    figures.push(figure);
    // This takes minutes.
    console.error(`${figure.measured.padStart(8)}  ${what} (${figure.detail})`);
  };
  const { id: projectId } = await services.projects.create(
    { name: 'Many', plan: 'enterprise', limits: { perMinute: 1_000_000, perDay: 1_000_000 } },
    CALL,
  );
  await services.deploys.create({ projectId }, CALL);

  const csv = csvOf(PETS_BYTES);
  const dataset = { projectId, environment: 'production' } as const;
  await measure('10 MB of CSV are imported', () => importAll(services.pets, dataset, 'csv', csv));
  const list = { ...dataset, limit: 100, before: 0, offset: 50_000 };
  for (const sort of ['name', 'status', 'categoryId'] as const)
    await measure(`these pets are sorted by ${sort}`, () =>
      services.pets.list({ ...list, sort, descending: true } as Parameters<typeof services.pets.list>[0], CALL),
    );
  await services.pets.clear({ ...dataset }, CALL);

  await services.zones.create({ name: 'big.test', supportsAlias: false }, CALL);
  const records = linesOf(RECORDS, (number) => `h${number} 300 IN A 192.0.2.${number % 250}`);
  await measure('a zone of 100,000 records is imported', () =>
    services.zones.import({ name: 'big.test', text: records, files: {}, force: false }, CALL),
  );
  await measure('that zone is exported', () => services.zones.export({ name: 'big.test' }, CALL));
  await measure('that zone is removed', () => services.zones.remove({ name: 'big.test' }, CALL));

  await services.zones.create({ name: 'many.test', supportsAlias: false }, CALL);
  const text = linesOf(DOMAINS, (number) => `d${number} 3600 IN CNAME cname.vivarium.localhost.`);
  await services.zones.import({ name: 'many.test', text, files: {}, force: false }, CALL);
  const attach = async (from: number, to: number) => {
    for (let number = from; number < to; number++)
      await services.domains.attach({ projectId, hostname: `d${number}.many.test`, local: false }, CALL);
  };
  await attach(0, SHOWN_DOMAINS);
  await services.clock.advance({ by: DAY }, CALL);
  await measure(`the Overview of ${SHOWN_DOMAINS} domains is read`, () => readOverview(app));
  await attach(SHOWN_DOMAINS, DOMAINS);
  await measure(`the clock passes the first check of ${NUMBER} domains`, () =>
    services.clock.advance({ by: DAY }, CALL),
  );
  const issued = (await services.certificates.list({}, CALL)).length;
  if (issued !== DOMAINS) throw new Error(`${issued} of ${DOMAINS} certificates were issued.`);
  await measure(`a snapshot with ${NUMBER} domains is published`, () =>
    services.projects.update({ projectId, name: 'Very many' }, CALL),
  );
  await measure(`${NUMBER} domains are listed`, () => services.domains.list({}, CALL));
  await measure(`the clock passes the renewal of ${NUMBER} certificates`, () =>
    services.clock.advance({ by: 'P61D' }, CALL),
  );

  await importAll(services.pets, dataset, 'csv', csv.slice(0, 40_000));
  await fillTraffic(app, projectId);
  await measure('10,000 requests are exported as HAR', () => services.traffic.har({ limit: ENTRIES }, CALL));
  await measure('all is backed up', () =>
    services.backup.create({ file: join(folder, 'all.vivarium'), force: false }, CALL),
  );
  let world = '';
  // The built program has this library in one file.
  await import('../../../main/world/write.ts');
  await measure('all is exported', async () => ({ text: world } = await services.world.export(undefined, CALL)));
  await app.stop();

  const other = await start(temporaryFolder());
  await measure('all is imported', () => other.services.world.apply({ text: world }, CALL));
  await other.stop();
  return figures;
}

const start = (dataDir: string): Promise<App> =>
  startApp({
    config: { dataDir, httpPort: 0, httpsPort: 0, dnsPort: 0, controlPort: 0, ephemeral: false, empty: true },
    stateDir: dataDir,
    resourcesDir: join(ROOT, 'resources'),
    assetsDir: null,
    logLevel: 'error',
    sealer: null,
    writeLog: (line) => console.error(line),
  });

const linesOf = (count: number, line: (number: number) => string): string =>
  Array.from({ length: count }, (_, number) => line(number)).join('\n');

/** The calls that the page makes when *Overview* opens. */
async function readOverview({ services }: App): Promise<void> {
  const projects = await services.projects.list(undefined, CALL);
  await Promise.all([
    services.status.get(undefined, CALL),
    services.status.rates(undefined, CALL),
    services.domains.list({}, CALL),
    services.certificates.list({}, CALL),
    services.clock.get(undefined, CALL),
    services.traffic.list({ limit: 20 }, CALL),
    ...projects.map(({ id }) => services.limits.usage({ projectId: id }, CALL)),
  ]);
}

async function fillTraffic({ services, runtime }: App, projectId: string): Promise<void> {
  const { secret } = await services.keys.create({ projectId, name: 'bench' }, CALL);
  const { slug } = await services.projects.get({ projectId }, CALL);
  const { port } = runtime.http;
  const headers = { host: `${slug}.vivarium.localhost:${port}`, authorization: `Bearer ${secret}` };
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: '/v1/pets?limit=10', headers }, (response) => {
        response.resume().once('end', resolve);
      })
        .once('error', reject)
        .end();
    });
  let left = ENTRIES;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (left-- > 0) await ask();
    }),
  );
}

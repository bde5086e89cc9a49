import { existsSync, readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { OWNER_ONLY, writeFileAtomically } from '../../base/system/files.ts';
import { hashSecret } from '../../base/secret.ts';
import { CALL } from '../../contract/calls.ts';
import { conflict, orElse } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import type { RecordInfo } from '../../contract/zones.ts';
import type { KeyRow, KeyRows, SettingRows } from '../dependencies.ts';

const demoKeyFile = z.object({ projectId: z.string(), keyId: z.string(), secret: z.string() });

/** Marks the first start as done, to keep removed parts of the demo from coming back. */
const FIRST_START_SETTING = 'firstStartAt';

export type Demo = ReturnType<typeof createDemo>;

export function createDemo(options: {
  /** File with the key, mode 0600; null keeps it in memory. */
  file: string | null;
  keys: KeyRows;
  settings: SettingRows;
  services: DemoServices;
  /** The text of `resources/demo/pets.json`. */
  petsJson: () => string;
}) {
  const { file, keys, settings, services } = options;
  let known = file === null || !existsSync(file) ? null : readKey(readFileSync(file, 'utf8'), keys);

  function store(key: DemoKey | null): void {
    known = key;
    if (file === null) return;
    if (key === null) rmSync(file, { force: true });
    else writeFileAtomically(file, `${JSON.stringify(key, null, 2)}\n`, OWNER_ONLY);
  }

  async function create(): Promise<void> {
    await removeDemoProjects(services);
    store(await makeDemoProjects(services, options.petsJson()));
  }

  return {
    /** On the very first start: creates the demo, unless `empty`. Later: does nothing. */
    async prepare({ empty, now }: { empty: boolean; now: number }): Promise<void> {
      if (settings.get()[FIRST_START_SETTING] !== undefined) return;
      if (!empty) await create();
      settings.set(FIRST_START_SETTING, new Date(now).toISOString());
    },
    /**
     * Makes the demo later, for those who began without it; returns the id of its first project.
     * @throws VivariumError `conflict` when one of its names is taken
     */
    async make(): Promise<string> {
      const taken = await takenName(services);
      if (taken !== null) throw conflict(`The demo would make ${taken}, which exists already.`);
      try {
        const key = await makeDemoProjects(services, options.petsJson());
        store(key);
        return key.projectId;
      } catch (error) {
        await removeDemoProjects(services);
        throw error;
      }
    },
    key: () => known,
    /** Forgets the readable key when the key or its project is gone. */
    forget({ keyId, projectId }: { keyId?: string; projectId?: string }): void {
      if (known === null || (known.keyId !== keyId && known.projectId !== projectId)) return;
      store(null);
    },
    /** Reads the key of a restored snapshot, or keeps the current one if the restored keys contain it. */
    restored(text: string | null): void {
      store(readKey(text ?? JSON.stringify(known), keys));
    },
  };
}

/** Reads the key in a text; null unless the store still knows it. */
function readKey(text: string, keys: KeyRows): DemoKey | null {
  const read = demoKeyFile.safeParse(orElse(() => JSON.parse(text), null));
  if (!read.success) return null;
  const row: KeyRow | null = keys.get(read.data.keyId);
  const inForce = row !== null && row.revokedAtMs === null && row.hash === hashSecret(read.data.secret);
  return inForce ? read.data : null;
}

export type DemoServices = Pick<Services, 'projects' | 'deploys' | 'keys' | 'pets' | 'domains' | 'zones' | 'records'>;

/** The demo project's API key: the only readable one, which lets every start show a working request. */
export type DemoKey = z.infer<typeof demoKeyFile>;

/** On the default plan and with a key: the target of the banner's requests. */
const FREE = { name: 'Demo', slug: 'demo', plan: 'free' } as const;

/** On a plan with custom domains. */
const PRO = { name: 'Happy Paws', slug: 'happy-paws', plan: 'pro' } as const;

const SLUGS: readonly string[] = [FREE.slug, PRO.slug];

type DemoRecord = Pick<RecordInfo, 'zone' | 'name' | 'type' | 'value'>;

/** One served domain and two with the most common faults, with the records that cause them. */
const DOMAINS: readonly { hostname: string; records: readonly DemoRecord[] }[] = [
  {
    hostname: 'www.happypaws.test',
    records: [{ zone: 'happypaws.test', name: 'www', type: 'CNAME', value: 'cname.vivarium.localhost' }],
  },
  {
    hostname: 'shop.happypaws.test',
    records: [{ zone: 'happypaws.test', name: 'shop', type: 'CNAME', value: 'happypaws.old-host.example' }],
  },
  {
    hostname: 'happypaws.example',
    records: [
      { zone: 'happypaws.example', name: '@', type: 'ALIAS', value: 'cname.vivarium.localhost' },
      { zone: 'happypaws.example', name: '@', type: 'CAA', value: '0 issue "other-ca.example"' },
    ],
  },
];

const RECORDS = DOMAINS.flatMap(({ records }) => records);
const ZONES = [...new Set(RECORDS.map(({ zone }) => zone))];

/** Creates the demo's projects, zones and domains, and a key. The free project is the newest. */
export async function makeDemoProjects(services: DemoServices, petsJson: string): Promise<DemoKey> {
  const { projects, deploys, keys, pets } = services;
  const fill = (projectId: string, environment: 'production' | 'staging') =>
    pets.import({ projectId, environment, format: 'json', text: petsJson, more: false }, CALL);

  const pro = await projects.create(PRO, CALL);
  await fill(pro.id, 'production');
  await deploys.create({ projectId: pro.id }, CALL);
  await makeDomains(services, pro.id);

  const free = await projects.create(FREE, CALL);
  await fill(free.id, 'production');
  await fill(free.id, 'staging');
  await deploys.create({ projectId: free.id }, CALL);
  const key = await keys.create({ projectId: free.id, name: 'Demo key' }, CALL);
  return { projectId: free.id, keyId: key.id, secret: key.secret };
}

async function makeDomains({ zones, records, domains }: DemoServices, projectId: string): Promise<void> {
  for (const name of ZONES) await zones.create({ name, supportsAlias: true }, CALL);
  for (const record of RECORDS) await records.put({ ...record, ttl: 3600, force: false }, CALL);
  for (const { hostname } of DOMAINS) await domains.attach({ projectId, hostname, local: false }, CALL);
  await Promise.all(DOMAINS.map(({ hostname }) => domains.verify({ hostname }, CALL)));
}

/** A project or zone with a name of the demo; null if there is none. */
async function takenName({ projects, zones }: DemoServices): Promise<string | null> {
  const project = (await projects.list(undefined, CALL)).find(({ slug }) => SLUGS.includes(slug));
  if (project !== undefined) return `the project "${project.slug}"`;
  const zone = (await zones.list(undefined, CALL)).find(({ name }) => ZONES.includes(name));
  return zone === undefined ? null : `the zone ${zone.name}`;
}

/** Removes what an interrupted creation of the demo has left: nothing had its names before. */
export async function removeDemoProjects({ projects, zones }: DemoServices): Promise<void> {
  for (const { id, slug } of await projects.list(undefined, CALL)) {
    if (SLUGS.includes(slug)) await projects.remove({ projectId: id }, CALL);
  }
  for (const { name } of await zones.list(undefined, CALL)) {
    if (ZONES.includes(name)) await zones.remove({ name }, CALL);
  }
}

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, describe, it } from 'vitest';
import { createSigningKey } from '../../../../main/dns/zones/zone-signer.ts';
import { SNAPSHOT_ID, writeCopy } from '../../../../main/store/copies/copy-file.ts';
import { openDatabase } from '../../../../main/store/database.ts';
import { silentLog } from '../../../../main/base/log.ts';
import { latestVersion, MIGRATIONS } from '../../../../main/store/migrations/migrations.ts';
import { restoreFolder } from '../../../../main/store/copies/folder-backup.ts';
import { replaceContent } from '../../../../main/store/copies/replace-content.ts';
import { SNAPSHOTS_MAX, type SnapshotTarget } from '../../../../main/store/copies/snapshots.ts';
import { type Store, faultOf, HERE, pet, projectRow, query, STAGING } from '../../../unit/store/parts.ts';
import { DAY_MS, MINUTE_MS } from '../../../../main/contract/duration.ts';
import { NO_CERTIFICATE } from '../../../../main/domains/hostname-machine.ts';
import { attachedDomain } from '../../../support/domains-world.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../../support/fake-clock.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { openFile, temporaryFile, newDatabase } from '../files.ts';
import { rowsIn, runIn, valueIn } from '../../../support/sqlite.ts';

const LATEST = latestVersion(MIGRATIONS);
const ROOT = 'aa11';

const target = (more: Partial<SnapshotTarget> = {}): SnapshotTarget => ({
  name: 'demo',
  createdAtMs: FAKE_NOW_MS,
  root: ROOT,
  file: null,
  force: false,
  demoKey: null,
  traffic: null,
  ...more,
});

async function restore(store: Store, source: { name: string } | { file: string }, root = ROOT) {
  const snapshot = await store.snapshots.open(source);
  store.snapshots.restore(snapshot, { root, demoKey: null });
  snapshot.close();
  return snapshot;
}

const rowsOf = (file: string) => rowsIn(file, /^(?:serials|data_folder_files)$/);

const LEAF = { privateKeyPem: '-----BEGIN PRIVATE KEY-----\nof the leaf\n-----END PRIVATE KEY-----' };
const SIGNING_KEY = createSigningKey();
const UPDATE_SECRET = 'c2VjcmV0IG9mIHVwZGF0ZXM=';

/** A store whose world has something in every table that a user fills. */
async function fullStore(pets = 50) {
  const file = await newDatabase(pets);
  const store = openFile(file);
  const { projectId } = HERE;
  store.projects.insert(projectRow('prj_gone'));
  store.keys.insert({
    id: 'key_1',
    projectId,
    name: 'CI',
    prefix: 'viv_ab',
    hash: 'a'.repeat(64),
    createdAtMs: 1,
    revokedAtMs: null,
  });
  store.zones.insert({ name: 'acme.test', supportsAlias: true, createdAtMs: 1 });
  store.zones.setUpdateSecret('acme.test', UPDATE_SECRET);
  store.zones.setSigning('acme.test', {
    on: true,
    keys: [{ ...SIGNING_KEY, retiresAtMs: null }],
    broken: null,
    stranger: null,
  });
  store.limits.save([
    {
      projectId,
      caller: 'key:key_1',
      minuteStartedAtMs: FAKE_NOW_MS,
      minuteUsed: 17,
      dayStartedAtMs: FAKE_NOW_MS,
      dayUsed: 99,
      strikes: 3,
      strikesUntilMs: FAKE_NOW_MS + 1,
      bannedUntilMs: FAKE_NOW_MS + 600_000,
      lastRequestAtMs: FAKE_NOW_MS,
    },
  ]);
  const certificate = { ...NO_CERTIFICATE, state: 'issued' } as const;
  const times = { verifiedAtMs: 2, lastCheckedAtMs: 2, nextCheckAtMs: 3 };
  const domain = attachedDomain({ hostname: 'shop.acme.test', projectId, ...times, certificate });
  store.domains.insert(domain);
  const dates = { notBeforeMs: 1, notAfterMs: 2, wireNotBeforeMs: 1, wireNotAfterMs: 2 };
  store.domains.update([
    {
      row: domain,
      leaf: { ...LEAF, ...dates, certificatePem: 'pem', serial: '1', fingerprint: 'F', sans: ['shop.acme.test'] },
    },
  ]);
  store.owned.put({
    kind: 'zone',
    what: 'acme.test',
    file: '/home/me/vivarium.yaml',
    created: true,
    detail: {},
    sinceMs: 1,
  });
  store.settings.set('propagation', 'PT1H');
  store.settings.set('trustedProxies', ['10.0.0.1']);
  return { file, store, folder: join(dirname(file), 'snapshots') };
}

describe('a snapshot', () => {
  it('restores every table, and leaves the machine’s own settings unchanged', async () => {
    const { file, store, folder } = await fullStore();
    const saved = await store.snapshots.save(target());
    expect(statSync(join(folder, 'snapshot-demo.db'))).toMatchObject({ size: saved.bytes });
    expect(statSync(join(folder, 'snapshot-demo.db')).mode & 0o777).toBe(0o600);
    expect(store.snapshots.list()).toEqual([saved]);
    const before = rowsOf(file);
    const serial = store.zones.get('acme.test')?.serial ?? 0;

    store.projects.remove('prj_gone');
    store.projects.update(HERE.projectId, { name: 'Changed' });
    await store.pets.clear(HERE, 1_000);
    store.pets.insert(HERE, pet('Later'));
    store.domains.remove('dom_1');
    store.zones.remove('acme.test');
    await store.zones.purged();
    store.settings.set('propagation', 'PT2H');
    store.settings.set('trustedProxies', ['10.0.0.2']);
    store.settings.set('lanKept', 'eth0');
    store.settings.set('runs', { run_1: {} });

    await restore(store, { name: 'demo' });
    const after = rowsOf(file);
    expect({ ...after, settings: null, clock: null }).toEqual({ ...before, settings: null, clock: null });
    expect(store.settings.get()).toEqual({ lanKept: 'eth0', propagation: 'PT1H', trustedProxies: ['10.0.0.2'] });
    expect(store.zones.get('acme.test')?.serial).toBeGreaterThan(serial);
    // Counts and ids continue from there: triggers and sequences are in place again.
    expect(store.pets.count(HERE, 'available')).toBe(50);
    expect(store.pets.insert(HERE, pet('Next')).id).toBe(51n);
    expect(store.pets.count(HERE, 'available')).toBe(51);
  });

  it('sets the clock to its moment, however much real time has passed; a frozen clock stays frozen', async () => {
    const file = temporaryFile();
    const clock = createFakeClock();
    const store = openFile(file, { clock });
    store.clock.set({ offsetMs: 3 * DAY_MS, frozenAtMs: null });
    await store.snapshots.save(target({ createdAtMs: FAKE_NOW_MS + 3 * DAY_MS }));
    store.clock.set({ offsetMs: 7, frozenAtMs: 5 });
    await store.snapshots.save(target({ name: 'frozen', createdAtMs: 5 }));
    await clock.pass(MINUTE_MS);
    await restore(store, { name: 'demo' });
    expect(store.clock.get()).toEqual({ offsetMs: 3 * DAY_MS - MINUTE_MS, frozenAtMs: null });
    await restore(store, { name: 'frozen' });
    expect(store.clock.get()).toMatchObject({ frozenAtMs: 5 });
  });

  it.each([50, 30_000])('is consistent while %i pets are being added', async (pets) => {
    const { store, folder } = await fullStore(pets);
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) await Promise.all([store.pets.add(HERE, pet('a')), store.pets.add(STAGING, pet('b'))]);
    })();
    await store.snapshots.save(target());
    isWriting = false;
    await writing;
    const copy = join(folder, 'snapshot-demo.db');
    expect(valueIn(copy, 'PRAGMA integrity_check')).toBe('ok');
    expect(valueIn(copy, 'SELECT count(*) FROM pets')).toBe(valueIn(copy, 'SELECT sum(pets) FROM pet_counts'));
  });

  it('is restored after the pets that wait to be added, and lists are those of its world', async () => {
    const { store } = await fullStore(3_000);
    await store.snapshots.save(target());
    const snapshot = await store.snapshots.open({ name: 'demo' });
    const revision = store.pets.revision(HERE);
    const adding = store.pets.add(HERE, pet('of the world before'));
    store.snapshots.restore(snapshot, { root: ROOT, demoKey: null });
    await expect(adding).resolves.toMatchObject({ id: 3_001n });
    expect(store.pets.revision(HERE)).toBeGreaterThan(revision);
    const { items, total } = store.pets.list(HERE, query({ sort: 'name', descending: true, limit: 1 }));
    expect([items[0]?.name, total]).toEqual(['Rex 999', 3_000]);
  });

  it('changes nothing if a part of Vivarium cannot read the restored rows, and the part reads the previous ones', async () => {
    const { file, store } = await fullStore();
    const heard: unknown[] = [];
    store.snapshots.onRestored((demoKey) => {
      store.serials.ofPlatform('of the restored world');
      heard.push([store.projects.list().map(({ id }) => id), demoKey]);
      if (heard.length === 1) throw new Error('The part failed.');
    });
    await store.snapshots.save(target({ demoKey: 'then' }));
    store.projects.insert(projectRow('prj_later'));
    store.owned.remove({ kind: 'zone', what: 'acme.test' });
    const before = rowsOf(file);
    const snapshot = await store.snapshots.open({ name: 'demo' });
    expect(() => store.snapshots.restore(snapshot, { root: ROOT, demoKey: 'now' })).toThrow('The part failed.');
    expect(rowsOf(file)).toEqual(before);
    expect(heard).toEqual([
      [['prj_gone', HERE.projectId], 'then'],
      [['prj_later', 'prj_gone', HERE.projectId], 'now'],
    ]);
    store.snapshots.restore(snapshot, { root: ROOT, demoKey: 'now' });
    expect(store.projects.get('prj_later')).toBe(null);
  });

  it('changes nothing if the disk is full', async () => {
    const { store, folder } = await fullStore(3_000);
    await store.snapshots.save(target());
    const file = await newDatabase(3);
    const before = rowsOf(file);
    const { connection } = openDatabase({ file, clock: createFakeClock(), log: silentLog });
    const { sqlite } = connection;
    const schema = () => sqlite.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
    const schemaBefore = schema();
    sqlite.pragma(`max_page_count = ${Number(sqlite.pragma('page_count', { simple: true })) + 5}`);
    const from = { file: join(folder, 'snapshot-demo.db'), isOfThisRoot: true, offsetMs: 0 };
    expect(faultOf(() => replaceContent(connection, from, () => undefined))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('is full; this change was not stored'),
    });
    expect(schema()).toEqual(schemaBefore);
    expect(sqlite.pragma('foreign_keys', { simple: true })).toBe(1);
    sqlite.close();
    expect(rowsOf(file)).toEqual(before);
  });

  it('replaces another of its name only with force, and is removed by name', async () => {
    const { store, folder } = await fullStore();
    await store.snapshots.save(target());
    await expect(store.snapshots.save(target())).rejects.toThrow(
      'The snapshot "demo" exists; choose another name, or replace it with --force.',
    );
    const saved = await store.snapshots.save(target({ force: true, createdAtMs: 8 }));
    expect(store.snapshots.list()).toEqual([saved]);
    await expect(store.snapshots.open({ name: 'dmo' })).rejects.toThrow('There is no snapshot "dmo". There are: demo.');
    expect(store.snapshots.remove('demo')).toEqual(saved);
    expect(() => store.snapshots.remove('demo')).toThrow('There is none yet.');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not created beyond the limit on their number', async () => {
    const { store, folder } = await fullStore();
    await store.snapshots.save(target({ name: 'first' }));
    for (let number = 1; number < SNAPSHOTS_MAX; number++) writeFileSync(join(folder, `snapshot-x${number}.db`), '');
    await expect(store.snapshots.save(target())).rejects.toThrow(
      `There are ${SNAPSHOTS_MAX} snapshots already; remove one first: vivarium snapshot remove first`,
    );
    await store.snapshots.save(target({ name: 'first', force: true }));
  });

  it('of an older schema is migrated, and of a newer one refused', async () => {
    const olderFile = temporaryFile();
    const place = { file: olderFile, clock: createFakeClock(), log: silentLog, migrations: MIGRATIONS.slice(0, -1) };
    openDatabase(place).connection.sqlite.close();
    runIn(olderFile, `INSERT INTO settings VALUES ('propagation', '"PT1H"')`);
    const path = join(temporaryFolder(), 'older');
    const copy = new Sqlite(olderFile);
    const content = Buffer.from(JSON.stringify({ name: 'older', createdAtMs: FAKE_NOW_MS, root: ROOT }));
    await writeCopy({
      sqlite: copy,
      file: path,
      applicationId: SNAPSHOT_ID,
      checkTarget: () => undefined,
      files: () => [{ path: 'snapshot.json', content }],
    });
    copy.close();
    const store = openFile(temporaryFile());
    await restore(store, { file: path });
    expect(store.settings.get()).toEqual({ propagation: 'PT1H' });
    runIn(path, `PRAGMA user_version = ${LATEST + 1}`);
    await expect(store.snapshots.open({ file: path })).rejects.toThrow(
      `it has schema ${LATEST + 1}, but this Vivarium supports schemas up to ${LATEST}. Nothing was changed.`,
    );
  });

  it.each<[string, (path: string, file: string) => void, RegExp]>([
    ['is cut off', (path) => truncateSync(path, 30_000), /it is cut off: 30000 of \d+ bytes exist/],
    ['is empty', (path) => truncateSync(path, 0), /does not begin like an SQLite database/],
    ['has a damaged page', damagePage, /it is damaged: /],
    [
      'has other facts',
      (path) => runIn(path, `UPDATE data_folder_files SET content = x'00'`),
      /differs from what was stored/,
    ],
    ['has another table', (path) => runIn(path, 'DROP TABLE pet_counts'), /its tables are not those of Vivarium/],
    [
      'is a database',
      (path, file) => writeFileSync(path, readFileSync(file)),
      /a database of Vivarium, not a snapshot/,
    ],
  ])('that %s is refused, and nothing is changed', async (_case, damage, message) => {
    const { file, store, folder } = await fullStore(2_000);
    const path = join(folder, 'snapshot-demo.db');
    await store.snapshots.save(target());
    damage(path, file);
    const before = rowsOf(file);
    await expect(restore(store, { name: 'demo' })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(message),
    });
    await expect(restore(store, { file: path })).rejects.toThrow(message);
    expect(rowsOf(file)).toEqual(before);
    expect(readdirSync(folder)).toEqual(['snapshot-demo.db']);
  });
});

describe('a snapshot in a file to hand on', () => {
  it('contains no private key of a leaf and no secret, and can be used with another root', async () => {
    const { store } = await fullStore();
    const file = join(temporaryFolder(), 'demo.vivarium');
    store.settings.set('caKey', 'file');
    await store.snapshots.save(target({ file, demoKey: '{"secret":"viv_readable"}' }));
    const bytes = readFileSync(file, 'latin1');
    for (const secret of ['of the leaf', UPDATE_SECRET, 'viv_readable', 'trustedProxies', '/home/me']) {
      expect(bytes).not.toContain(secret);
    }
    expect(store.snapshots.list()).toEqual([]);
    expect(() => restoreFolder(temporaryFolder(), file)).toThrow('it is a snapshot, which "vivarium snapshot restore');

    const other = openFile(temporaryFile());
    other.revocations.insert({ serial: 'OWN', reason: 'superseded', atMs: 1, wireAtMs: 1, wireNotAfterMs: 2 } as never);
    const restored = await restore(other, { file }, 'bb22');
    expect(restored).toMatchObject({ name: 'demo', demoKey: null });
    expect(other.domains.list()).toMatchObject([{ hostname: 'shop.acme.test', certificate: { state: 'issued' } }]);
    expect(other.domains.leaf('shop.acme.test')).toBe(null);
    expect(other.zones.get('acme.test')?.signing?.keys[0]?.d).toBe(SIGNING_KEY.d);
    expect(existsSync(restored.database)).toBe(false);
  });

  it('has rows that fit together', async () => {
    const { store } = await fullStore();
    const file = join(temporaryFolder(), 'demo.vivarium');
    await store.snapshots.save(target({ file }));
    runIn(file, 'PRAGMA foreign_keys = OFF', `INSERT INTO pet_counts VALUES (77, 'sold', 1)`);
    await expect(store.snapshots.open({ file })).rejects.toThrow(
      'the row dataset_id 77, status "sold" in the table pet_counts: dataset_id must be the id of a row of datasets.',
    );
    const folder = join(temporaryFolder(), 'a folder');
    mkdirSync(folder);
    await expect(store.snapshots.open({ file: folder })).rejects.toThrow('it is a folder');
  });
});

function damagePage(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xff, bytes.length - 40_960, bytes.length - 20_480);
  writeFileSync(path, bytes);
}

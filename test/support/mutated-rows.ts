import { copyFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { textRecordOf, createRemoteClient } from './acme/acme-remote.ts';
import { createCsr } from './certificate-request.ts';
import type { Engine } from './engine.ts';

/** One wrong value in one column of one row. */
export interface Mutation {
  table: string;
  column: string;
  /** As a literal of SQL. */
  value: string;
}

interface Column {
  name: string;
  type: string;
  pk: number;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Wrong for any column of the type; for a text, also what a JSON document or a list of allowed values may not be. */
const INTEGERS = ['NULL', quoted('x'), '-1', '9000000000000000', '9223372036854775807'];
const TEXTS = ['NULL', "x'00ff'", quoted(''), quoted('google.com')];
const DOCUMENTS = ['{', 'null', '1', '"x"', '[]', '[null]', '{}', '{"state":"issued"}'].map(quoted);

export const columnsOf = (sqlite: Database, table: string): Column[] =>
  sqlite.pragma(`table_info(${table})`) as Column[];

export const tablesOf = (sqlite: Database): string[] =>
  sqlite
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('data_folder_files') ORDER BY name",
    )
    .pluck()
    .all();

/** All of them, generated from the tables themselves: a new column has its own without further work. */
export function mutationsOf(sqlite: Database): Mutation[] {
  return tablesOf(sqlite).flatMap((table) =>
    columnsOf(sqlite, table).flatMap(({ name, type }) => {
      const held = sqlite.prepare<[], unknown>(`SELECT ${name} FROM ${table} LIMIT 1`).pluck().get();
      const isDocument = typeof held === 'string' && /^[[{]/.test(held);
      const values = type === 'INTEGER' || name === 'seq' ? INTEGERS : [...TEXTS, ...(isDocument ? DOCUMENTS : [])];
      return values.map((value) => ({ table, column: name, value }));
    }),
  );
}

interface Definition {
  name: string;
  sql: string;
}

/** Without waiting for the disk. */
function openFast(file: string): Database {
  const sqlite = new Sqlite(file);
  sqlite.pragma('synchronous = OFF');
  sqlite.pragma('journal_mode = MEMORY');
  return sqlite;
}

/** Rewrites the definitions of all tables in a file, without their rows. */
function redefine(file: string, definitionOf: (name: string, sql: string) => string): void {
  const sqlite = openFast(file);
  try {
    sqlite.unsafeMode(true);
    sqlite.pragma('writable_schema = ON');
    const rows = sqlite
      .prepare<[], Definition>("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all();
    const update = sqlite.prepare("UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?");
    for (const { name, sql } of rows) update.run(definitionOf(name, sql), name);
  } finally {
    sqlite.close();
  }
}

/**
 * What makes copies of a database with wrong values in the first row of each table, also such that its own constraints
 * forbid; false for values that SQLite has no form for.
 */
export function createMutator(
  original: string,
  loose: string,
): (mutations: readonly Mutation[], to: string) => boolean {
  const definitions = new Map<string, string>();
  copyFileSync(original, loose);
  redefine(loose, (name, sql) => {
    definitions.set(name, sql);
    const typed = sql.replace(/ STRICT, WITHOUT ROWID$/, ' WITHOUT ROWID').replace(/ STRICT$/, '');
    return typed.replaceAll(/(INTEGER|TEXT) NOT NULL/g, '$1');
  });
  return (mutations, to) => {
    copyFileSync(loose, to);
    const sqlite = openFast(to);
    try {
      sqlite.pragma('ignore_check_constraints = ON');
      sqlite.pragma('foreign_keys = OFF');
      const triggers = sqlite
        .prepare<[], Definition>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .all();
      // They would mend other rows.
      for (const { name } of triggers) sqlite.exec(`DROP TRIGGER ${name}`);
      for (const [table, here = []] of Object.entries(Object.groupBy(mutations, (each) => each.table))) {
        const keys = columnsOf(sqlite, table)
          .filter(({ pk }) => pk > 0)
          .map(({ name }) => name);
        const key = keys.length === 0 ? 'rowid' : keys.join(', ');
        const values = here.map(({ column, value }) => `${column} = ${value}`).join(', ');
        sqlite.exec(`UPDATE ${table} SET ${values} WHERE (${key}) = (SELECT ${key} FROM ${table} LIMIT 1)`);
      }
      for (const { sql } of triggers) sqlite.exec(sql);
    } catch {
      return false;
    } finally {
      sqlite.close();
    }
    redefine(to, (name, sql) => definitions.get(name) ?? sql);
    return true;
  };
}

/** Fills every table: with the engine's own calls, so that the rows are what Vivarium writes. */
export async function fillWorld(engine: Engine): Promise<void> {
  const { call } = engine;
  const { id: projectId } = await engine.demo();
  await call('clock.advance', { by: 'PT1M' });
  await call('orders.create', { projectId, petId: 1 });
  await call('requests.save', { projectId, text: 'GET {{baseUrl}}/pets' });
  await call('breaks.start', { entry: 'http.empty-response', on: { path: '/nowhere' } });
  await call('zones.dnssec', { name: 'happypaws.test', signed: true });
  await call('zones.updateKey', { name: 'happypaws.test' });
  await call('world.apply', { text: 'vivarium: 1\nsettings: { serverTiming: true }\n', file: '/a/vivarium.yaml' });
  await call('certificates.revoke', { hostname: 'www.happypaws.test' });
  await call('acme.createExternalKey', { name: 'CI' });
  const connection = await call('providers.connect', { provider: 'vercel', projectId });
  const vercel = { host: new URL(connection.baseUrl).hostname, key: connection.token };
  await engine.api({ ...vercel, method: 'POST', path: '/v7/domains', body: { name: 'added.test' } });
  await call('providers.disconnect', { id: connection.id });
  await engine.api();
  const client = createRemoteClient(engine.app.runtime);
  try {
    await client.register();
    const name = 'mail.happypaws.test';
    const order = await client.order([name]);
    const [authorization] = await client.authorizations(order);
    if (authorization === undefined) throw new Error(order.text);
    const { name: host, value } = await textRecordOf(client, authorization);
    await call('records.put', { zone: 'happypaws.test', name: `${host}.`, type: 'TXT', value, ttl: 60 });
    await client.respond(order, 'dns-01');
    const { status, text } = await client.finalize(order, createCsr({ names: [name] }));
    if (status >= 400) throw new Error(text);
  } finally {
    client.close();
  }
}

/** Calls what reads the world; returns the calls that failed inside. */
export async function readWorld({ call, api }: Engine): Promise<string[]> {
  const failed: string[] = [];
  async function read<Answer>(procedure: string, input: unknown = {}): Promise<Answer | null> {
    try {
      return (await call(procedure, input)) as Answer;
    } catch (error) {
      if ((error as { code?: string }).code === 'internal_error') failed.push(procedure);
      return null;
    }
  }
  const plain = [
    ...['status.get', 'status.rates', 'settings.get', 'clock.get', 'zones.platform', 'breaks.list', 'drills.list'],
    ...['certificates.list', 'runs.list', 'snapshots.list', 'world.export', 'world.owners', 'machine.status'],
    ...['acme.accounts', 'acme.externalKeys', 'acme.limits', 'acme.refusals', 'reach.proxy', 'lan.status'],
  ];
  for (const procedure of plain) await read(procedure);
  for (const { id: projectId } of (await read<{ id: string }[]>('projects.list')) ?? []) {
    const own = ['projects.get', 'keys.list', 'deploys.list', 'limits.usage', 'requests.get', 'domains.export'];
    for (const procedure of own) await read(procedure, { projectId });
    for (const environment of ['production', 'staging']) {
      for (const procedure of ['pets.list', 'orders.list', 'api.describe'])
        await read(procedure, { projectId, environment });
    }
  }
  for (const { hostname } of (await read<{ hostname: string }[]>('domains.list')) ?? []) {
    await read('domains.get', { hostname });
    await read('certificates.get', { hostname });
  }
  for (const { name } of (await read<{ name: string }[]>('zones.list')) ?? []) {
    for (const procedure of ['zones.export', 'zones.dnssec']) await read(procedure, { name });
    for (const procedure of ['records.list', 'records.propagating']) await read(procedure, { zone: name });
    await read('dns.query', { name, type: 'DNSKEY' });
  }
  for (const { id: orderId } of (await read<{ id: string }[]>('acme.orders')) ?? [])
    await read('acme.explain', { orderId });
  if ((await api()).status === 500) failed.push('GET /v1/pets');
  return failed;
}

import Sqlite from 'better-sqlite3';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connect } from '../../../main/store/connection.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const NORMAL = 1;
const FULL = 2;

it('a part of a long change does not wait for the disk, but the next change does, even if the part fails', async () => {
  const file = join(temporaryFolder(), 'vivarium.db');
  const sqlite = new Sqlite(file);
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.exec('CREATE TABLE rows (value INTEGER UNIQUE)');
  const { inPart, transactional, sync } = connect(sqlite, { file, backups: { list: () => [] } });
  const mode = () => sqlite.pragma('synchronous', { simple: true });
  const insert = (value: number) => {
    sqlite.prepare('INSERT INTO rows VALUES (?)').run(value);
    return mode();
  };
  const part = inPart(insert);
  expect([part(1), mode(), transactional(insert)(2)]).toEqual([NORMAL, FULL, FULL]);
  expect(() => part(1)).toThrow('UNIQUE');
  expect([mode(), sqlite.inTransaction]).toEqual([FULL, false]);
  await sync();
  sqlite.close();
  // The log's file disappears with the connection.
  await sync();
  expect(() => part(3)).toThrow('its database is closed');
});

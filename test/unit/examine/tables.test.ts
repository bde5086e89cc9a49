import { expect, it } from 'vitest';
import { CATALOGUE } from '../../../main/breaks/catalogue/index.ts';
import { nameOf, TABLES } from '../../../main/contract/examine-tables.ts';

it.each(Object.entries(TABLES))('every row of the table %s breaks an entry of the catalogue', (_name, rows) => {
  const ids = new Set(CATALOGUE.map(({ id }) => id));
  const named = rows.flatMap(({ break: entry, twin }) => [entry, ...(twin === undefined ? [] : [twin])]);
  expect(named.filter((id) => !ids.has(id))).toEqual([]);
  expect(rows.map(nameOf).filter((name) => !/^[a-z0-9-]+$/.test(name))).toEqual([]);
  expect(new Set(rows.map(nameOf)).size).toBe(rows.length);
});

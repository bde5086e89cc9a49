import { expect, test } from 'vitest';
import { UPDATE_RECORDS_MAX, type UpdateMessage } from '../../../../main/dns/server/update-exchange.ts';
import type { RecordRows, ZoneRows } from '../../../../main/services/dependencies.ts';
import { createRecordUpdates, type RRsetEdit } from '../../../../main/services/zones/record-writer.ts';

const ZONE = 'acme.test';
const NAME = `h.${ZONE}`;
const CLASS = { IN: 1, NONE: 254 };
const A = 1;
const TXT = 16;

const address = (number: number): string => `10.0.${number >> 8}.${number & 255}`;

test('an update at a name with very many records reads one more than it could delete, and no more', () => {
  const values = Array.from({ length: 100_000 }, (_, number) => address(number));
  const asked: number[] = [];
  const records: Pick<RecordRows, 'countOf' | 'ttlOf' | 'typesAt' | 'valuesOf'> = {
    countOf: (_zone, _name, type) => (type === 'A' ? values.length : 0),
    ttlOf: ({ type, value }) => (type === 'A' && values.includes(value) ? 60 : undefined),
    typesAt: () => [{ type: 'A', value: address(0) }],
    valuesOf(_zone, _name, _type, max) {
      asked.push(max);
      return values.slice(0, max);
    },
  };
  const changed: RRsetEdit[] = [];
  const updates = createRecordUpdates({
    zones: { get: () => ({ name: ZONE, supportsAlias: false }) } as unknown as ZoneRows,
    records: records as RecordRows,
    writer: {
      put: () => 0,
      replace: () => undefined,
      remove: () => 0,
      change: (_zone, edits) => changed.push(...edits),
    },
    nameServer: 'ns.vivarium.localhost',
    realNow: () => 0,
  });
  const zone = { name: ZONE, type: 6, class: CLASS.IN };
  const gone = {
    name: NAME,
    type: A,
    class: CLASS.NONE,
    ttlSeconds: 0,
    data: { type: 'A', address: address(0) },
  } as const;
  const text = {
    name: NAME,
    type: TXT,
    class: CLASS.IN,
    ttlSeconds: 60,
    data: { type: 'TXT', strings: ['x'] },
  } as const;
  expect(updates.apply({ zone, prerequisites: [], updates: [gone, text] } as unknown as UpdateMessage)).toEqual({
    rcode: 'NOERROR',
  });
  expect(changed.map(({ type, put, gone: values }) => [type, put.length, values])).toEqual([
    ['A', 0, [address(0)]],
    ['TXT', 1, []],
  ]);
  expect(asked).toEqual([UPDATE_RECORDS_MAX + 1]);
});

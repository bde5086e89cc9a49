// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { PetRecord } from '../../../../../main/contract/pets.ts';
import { inListOrder, readPasted, rowText, type RowFormat } from '../../../../../renderer/pages/pets/pet-text.ts';
import { readRows } from '../../../services/import-rows.ts';
import { NO_FILTER } from '../../../../support/page/page-pets.ts';

const PETS: PetRecord[] = [
  { id: '9223372036854775807', name: 'Rex, "the"\tdog\nII', categoryId: '-9223372036854775808', status: 'sold' },
  { id: '-1', name: ' 🦊;\u0000', categoryId: '0', status: 'available' },
];

describe('rows as text', () => {
  it.each([
    ['csv', 'id,name,categoryId,status\n9223372036854775807,"Rex, ""the""\tdog\nII",-92'],
    ['tsv', 'id\tname\tcategoryId\tstatus\n9223372036854775807\t"Rex, ""the""\tdog\nII"\t-92'],
    ['json', '[\n{"id":9223372036854775807,"name":"Rex, \\"the\\"\\tdog\\nII","categoryId":-92'],
    ['ndjson', '{"id":9223372036854775807,"name":"Rex, \\"the\\"\\tdog\\nII","categoryId":-92'],
  ] as const)('as %s', (format, beginning) => {
    expect(rowText(PETS, format).slice(0, beginning.length)).toBe(beginning);
  });

  it.each(['csv', 'tsv', 'json', 'ndjson'] as const)('%s is pasted or imported as the same pets', async (format) => {
    const pasted = readPasted(rowText(PETS, format));
    if (pasted.kind !== 'rows') throw new Error('They are cells.');
    const { columns, ...form } = pasted.form;
    expect(columns).toEqual({ id: '' });
    expect((await readRows(form.format, [pasted.text])).map((row) => row.pet)).toEqual(
      PETS.map((pet) => ({ ...pet, id: BigInt(pet.id), categoryId: BigInt(pet.categoryId) })),
    );
  });

  it.each([
    ['csv', 'id,name,categoryId,status\n'],
    ['json', '[\n]\n'],
    ['ndjson', ''],
  ] as [RowFormat, string][])('of no pets as %s is %j', (format, text) => {
    expect(rowText([], format)).toBe(text);
  });
});

describe('a pasted text', () => {
  it.each([
    ['one', [['one']]],
    ['one\n', [['one']]],
    [
      'a\tb\r\nc\td\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['a\t\tb', [['a', '', 'b']]],
    ['a\t', [['a', '']]],
    ['"a\n""b"""\tc\nd', [['a\n"b"', 'c'], ['d']]],
    ['a\n\nb', [['a'], [''], ['b']]],
    ['"a" b\tc', [['"a" b', 'c']]],
    ['', [['']]],
  ])('%j is read as cells', (text, cells) => {
    expect(readPasted(text)).toEqual({ kind: 'cells', cells });
  });

  it.each([
    ['Name;Category\nRex;1', 'Name;Category\nRex;1', { format: 'csv', delimiter: 'semicolon' }],
    ['{"name":"a"}\n{"name":"b"}', '[{"name":"a"},\n{"name":"b"}]', { format: 'json' }],
  ])('%j is read as rows', (text, array, form) => {
    expect(readPasted(text)).toMatchObject({ kind: 'rows', text: array, form });
  });
});

describe('pets in the order of a list', () => {
  const pet = (id: string, name: string, categoryId: string): PetRecord => ({ id, name, categoryId, status: 'sold' });
  const pets = [pet('10', 'b', '9'), pet('9', 'Ä', '10'), pet('-1', 'a', '9'), pet('11', 'B', '9')];

  it.each([
    ['id', false, '-1 9 10 11'],
    ['id', true, '11 10 9 -1'],
    ['name', false, '-1 10 11 9'],
    ['categoryId', false, '-1 10 11 9'],
    ['categoryId', true, '9 11 10 -1'],
    ['status', false, '-1 9 10 11'],
  ] as const)('by %s, descending: %s', (sort, descending, ids) => {
    const ordered = inListOrder(pets, { ...NO_FILTER, sort, descending });
    expect(ordered.map(({ id }) => id).join(' ')).toBe(ids);
  });
});

import { describe, expect, it } from 'vitest';
import { readImport } from '../../../main/services/pet-import.ts';

const rex = { name: 'Rex', categoryId: 1n, status: 'available' };

describe('JSON', () => {
  it.each([
    ['[]', []],
    ['[{"name":"Rex","categoryId":1}]', [{ row: 1, pet: rex }]],
    ['\uFEFF[{"name":"Rex","categoryId":"1","extra":true}]', [{ row: 1, pet: rex }]],
    [
      '[{"id":9223372036854775807,"name":"Rex","categoryId":-9223372036854775808,"status":"sold"}]',
      [
        {
          row: 1,
          pet: { id: 9223372036854775807n, name: 'Rex', categoryId: -9223372036854775808n, status: 'sold' },
        },
      ],
    ],
  ])('%s', (text, rows) => {
    expect(readImport('json', text)).toEqual(rows);
  });

  it.each([
    ['{"categoryId":1}', 'name must be a string'],
    ['{"name":" ","categoryId":1}', 'name must be a string of 1 to 1,000 characters'],
    ['{"name":"Rex"}', 'categoryId is required'],
    ['{"name":"Rex","categoryId":1.5}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":9223372036854775808}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":"0x1"}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":1,"status":"gone"}', 'status must be one of available, pending, sold'],
    ['7', 'must be an object'],
    ['null', 'must be an object'],
  ])('the row %s is refused by itself: %s', (row, message) => {
    const rows = readImport('json', `[{"name":"Rex","categoryId":1},${row},{"name":"Rex","categoryId":1}]`);
    expect(rows[0]).toEqual({ row: 1, pet: rex });
    expect(rows[1]).toMatchObject({ row: 2, pet: null, message: expect.stringContaining(message) as string });
    expect(rows[2]).toEqual({ row: 3, pet: rex });
  });

  it.each([
    ['', 'is not JSON'],
    ['{}', 'must be a JSON array'],
    ['[1,', 'is not JSON'],
  ])('the text %s is refused as a whole', (text, message) => {
    expect(() => readImport('json', text)).toThrow(message);
  });
});

describe('CSV', () => {
  it('reads columns in any order and case, quotes, and empty cells as defaults', () => {
    const text = 'Status,NAME,category_id,note\r\nsold,"Rex, the ""dog""",1,x\r\n,Moss,2\r\n\r\n';
    expect(readImport('csv', text)).toEqual([
      { row: 1, pet: { name: 'Rex, the "dog"', categoryId: 1n, status: 'sold' } },
      { row: 2, pet: { name: 'Moss', categoryId: 2n, status: 'available' } },
    ]);
  });

  it('keeps int64 ids exact', () => {
    expect(readImport('csv', 'id,name,categoryId\n9007199254740993,Rex,1')).toEqual([
      { row: 1, pet: { id: 9007199254740993n, ...rex } },
    ]);
  });

  it.each([
    ['name,categoryId\n,1', 'name must be'],
    ['name,categoryId\nRex', 'categoryId is required'],
    ['name,categoryId\nRex,one', 'categoryId must be an integer'],
  ])('a bad row of %j is reported', (text, message) => {
    expect(readImport('csv', text)).toMatchObject([
      { row: 1, pet: null, message: expect.stringContaining(message) as string },
    ]);
  });

  it.each([
    ['', 'needs a header line'],
    ['Rex,1', 'needs a header line'],
    ['name\nRex', '"categoryId" is missing'],
    ['name,categoryId\n"Rex,1', 'is not CSV'],
  ])('the text %j is refused as a whole', (text, message) => {
    expect(() => readImport('csv', text)).toThrow(message);
  });
});

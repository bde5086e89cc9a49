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
  ])('%s', async (text, rows) => {
    expect(await readImport('json', text)).toEqual(rows);
  });

  it.each([
    ['{"categoryId":1}', 'name must be a string'],
    ['{"name":" ","categoryId":1}', 'name must have at least one character that is not blank'],
    ['{"name":"Rex"}', 'categoryId is required'],
    ['{"name":"Rex","categoryId":1.5}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":9223372036854775808}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":"0x1"}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":1,"status":"gone"}', 'status must be one of available, pending, sold'],
    ['7', 'must be an object'],
    ['null', 'must be an object'],
  ])('the row %s is refused by itself: %s', async (row, message) => {
    const rows = await readImport('json', `[{"name":"Rex","categoryId":1},${row},{"name":"Rex","categoryId":1}]`);
    expect(rows[0]).toEqual({ row: 1, pet: rex });
    expect(rows[1]).toMatchObject({ row: 2, pet: null, message: expect.stringContaining(message) as string });
    expect(rows[2]).toEqual({ row: 3, pet: rex });
  });

  it.each([
    ['', 'is not JSON'],
    ['{}', 'must be a JSON array'],
    ['[1,', 'is not JSON'],
  ])('the text %s is refused as a whole', async (text, message) => {
    await expect(readImport('json', text)).rejects.toThrow(message);
  });
});

describe('CSV', () => {
  it('reads columns in any order and case, quotes, and empty cells as defaults', async () => {
    const text = 'Status,NAME,category_id,note\r\nsold,"Rex, the ""dog""",1,x\r\n,Moss,2\r\n\r\n';
    expect(await readImport('csv', text)).toEqual([
      { row: 1, pet: { name: 'Rex, the "dog"', categoryId: 1n, status: 'sold' } },
      { row: 2, pet: { name: 'Moss', categoryId: 2n, status: 'available' } },
    ]);
  });

  it('keeps int64 ids exact', async () => {
    expect(await readImport('csv', 'id,name,categoryId\n9007199254740993,Rex,1')).toEqual([
      { row: 1, pet: { id: 9007199254740993n, ...rex } },
    ]);
  });

  it.each([
    ['name,categoryId\n,1', 'name must have'],
    ['name,categoryId\nRex', 'categoryId is required'],
    ['name,categoryId\nRex,one', 'categoryId must be an integer'],
  ])('a bad row of %j is reported', async (text, message) => {
    expect(await readImport('csv', text)).toMatchObject([
      { row: 1, pet: null, message: expect.stringContaining(message) as string },
    ]);
  });

  it.each([
    ['a quote inside of a cell', 'name,categoryId\nA"x,1\nMoss,2', 'is not CSV', 2],
    ['a quote that is never closed', 'name,categoryId\nMoss,2\n"Rex,1', 'is not CSV', 1],
    ['more cells than columns', 'name,categoryId\nRex, the dog,1\nMoss,2', 'has 3 cells', 2],
  ])('%s spoils its own row only', async (_what, text, message, good) => {
    const rows = await readImport('csv', text);
    expect(rows).toHaveLength(2);
    expect(rows[good - 1]).toMatchObject({ pet: { name: 'Moss', categoryId: 2n } });
    expect(rows[2 - good]).toMatchObject({ pet: null, message: expect.stringContaining(message) as string });
  });

  it('lets others have their turns while it reads much', async () => {
    const text = `name,categoryId\n${'Rex,1\n'.repeat(20_000)}`;
    let turns = 0;
    let reading = true;
    const count = () => {
      turns++;
      if (reading) setImmediate(count);
    };
    setImmediate(count);
    expect(await readImport('csv', text)).toHaveLength(20_000);
    reading = false;
    expect(turns).toBeGreaterThan(20);
  });

  it.each([
    ['', 'needs a header line'],
    ['Rex,1', 'needs a header line'],
    ['name\nRex', '"categoryId" is missing'],
    ['name,name,categoryId\nRex,Rex,1', 'twice'],
  ])('the text %j is refused as a whole', async (text, message) => {
    await expect(readImport('csv', text)).rejects.toThrow(message);
  });
});

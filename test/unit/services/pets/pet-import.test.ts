import { describe, expect, it } from 'vitest';
import type { ImportForm } from '../../../../main/services/pets/import-text.ts';
import { delimiterOf } from '../../../../main/services/pets/import-csv.ts';
import { turnsDuring } from '../../../support/turns.ts';
import { readAllRows, readRows } from '../import-rows.ts';
import { readFileSync } from 'node:fs';
import { createPetSeeds } from '../../../../main/services/pets/pet-import.ts';

const rex = { name: 'Rex', categoryId: 1n, status: 'available' };
const extreme = { id: 9223372036854775807n, name: 'Rex', categoryId: -9223372036854775808n, status: 'sold' };
const MOSS = '{"name":"Moss","categoryId":2}';

describe('JSON', () => {
  it.each([
    ['[]', []],
    ['[{"name":"Rex","categoryId":1}]', [{ row: 1, pet: rex }]],
    ['\uFEFF[{"name":"Rex","categoryId":"1","extra":true}]', [{ row: 1, pet: rex }]],
    [
      '[{"id":9223372036854775807,"name":"Rex","categoryId":-9223372036854775808,"status":"sold"}]',
      [{ row: 1, pet: extreme }],
    ],
  ])('%s', async (text, rows) => {
    expect(await readRows('json', [text])).toEqual(rows);
  });

  it.each([
    ['{"categoryId":1}', 'name must be a string'],
    ['{"name":" ","categoryId":1}', 'name must have at least one character other than spaces'],
    ['{"name":"Rex"}', 'categoryId is required'],
    ['{"name":"Rex","categoryId":1.5}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":9223372036854775808}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":"0x1"}', 'categoryId must be an integer from'],
    ['{"name":"Rex","categoryId":1,"status":"gone"}', 'status must be one of available, pending, sold'],
    ['7', 'must be an object'],
    ['null', 'must be an object'],
  ])('the row %s is refused separately: %s', async (row, message) => {
    const rows = await readRows('json', [`[{"name":"Rex","categoryId":1},${row},{"name":"Rex","categoryId":1}]`]);
    expect(rows[0]).toEqual({ row: 1, pet: rex });
    expect(rows[1]).toMatchObject({ row: 2, pet: null, message: expect.stringContaining(message) as string });
    expect(rows[2]).toEqual({ row: 3, pet: rex });
  });

  it.each([
    ['an invalid element', `[${MOSS},{name: 1},7]`, 'is not JSON', 3],
    ['an extra comma', `[${MOSS},]`, 'an element is missing beside a comma', 2],
    ['an empty place', `[${MOSS},,${MOSS}]`, 'an element is missing beside', 3],
    ['brackets that do not match', `[${MOSS},{"a":1]]`, 'is not JSON', 2],
    ['a truncated text', `[${MOSS},{"name":"Re`, 'ends before the array does', 2],
    ['what follows the array', `[${MOSS}]\n[]`, 'after the end of the array', 2],
    ['a row without end', `[${MOSS},"${'x'.repeat(200_000)}`, 'nothing after it was read', 2],
  ])('%s invalidates its own row, and the rows before it are accepted', async (_what, text, message, count) => {
    const rows = await readRows('json', [text]);
    expect(rows).toHaveLength(count);
    expect(rows[0]).toMatchObject({ row: 1, pet: { name: 'Moss' } });
    expect(rows[1]).toMatchObject({ row: 2, pet: null, message: expect.stringContaining(message) as string });
  });

  it.each([
    ['', 'is not JSON: it is empty'],
    [' \n\uFEFF', 'is not JSON: it is empty'],
    ['{}', 'must be a JSON array'],
  ])('the text %j is refused as a whole', async (text, message) => {
    await expect(readRows('json', [text])).rejects.toThrow(message);
  });
});

describe.each([
  [
    'json',
    ' [ {"name":"A \\"[{,}]\\\\","categoryId":1} , 7,{"name":"🦊","categoryId":[1,{"a":"]"}]},{"name":"b","categoryId":2,"id":5}]\n',
  ],
  ['csv', 'name,categoryId,note\r\n"A ""x"",\ny",1,🦊\r\n,2,\r\nZoë,x,"un"closed\r\nZoë 🦊,3,\r\n'],
] as const)('%s in pieces', (format, text) => {
  it('is read the same wherever it is split', async () => {
    const whole = await readRows(format, [text]);
    expect(whole).toHaveLength(4);
    for (let cut = 0; cut <= text.length; cut++) {
      expect(await readRows(format, [text.slice(0, cut), text.slice(cut)])).toEqual(whole);
    }
    expect(await readRows(format, text.split(''))).toEqual(whole);
  });
});

describe('CSV', () => {
  it('reads columns in any order and case, quotes, and empty cells as defaults', async () => {
    const text = 'Status,NAME,category_id,note\r\nsold,"Rex, the ""dog""",1,x\r\n,Moss,2\r\n\r\n';
    expect(await readRows('csv', [text])).toEqual([
      { row: 1, pet: { name: 'Rex, the "dog"', categoryId: 1n, status: 'sold' } },
      { row: 2, pet: { name: 'Moss', categoryId: 2n, status: 'available' } },
    ]);
  });

  it('keeps int64 ids exact', async () => {
    const rows = await readRows('csv', ['id,name,categoryId\n9007199254740993,Rex,1']);
    expect(rows).toEqual([{ row: 1, pet: { id: 9007199254740993n, ...rex } }]);
  });

  it.each([
    ['name,categoryId\n,1', 'name must have'],
    ['name,categoryId\nRex', 'categoryId is required'],
    ['name,categoryId\nRex,one', 'categoryId must be an integer'],
  ])('an invalid row of %j is reported', async (text, message) => {
    expect(await readRows('csv', [text])).toMatchObject([
      { row: 1, pet: null, message: expect.stringContaining(message) as string },
    ]);
  });

  it.each([
    ['a quote inside of a cell', 'name,categoryId\nA"x,1\nMoss,2', 'is not CSV', 2],
    ['a quote that is never closed', 'name,categoryId\nMoss,2\n"Rex,1', 'is not CSV', 1],
    ['more cells than columns', 'name,categoryId\nRex, the dog,1\nMoss,2', 'has 3 cells', 2],
  ])('%s invalidates only its own row', async (_what, text, message, good) => {
    const rows = await readRows('csv', [text]);
    expect(rows).toHaveLength(2);
    expect(rows[good - 1]).toMatchObject({ pet: { name: 'Moss', categoryId: 2n } });
    expect(rows[2 - good]).toMatchObject({ pet: null, message: expect.stringContaining(message) as string });
  });

  it('lets other work run while it reads much', async () => {
    const text = `name,categoryId\n${'Rex,1\n'.repeat(20_000)}`;
    expect(await turnsDuring(() => readRows('csv', [text]))).toBeGreaterThan(20);
    expect(await readRows('csv', [text])).toHaveLength(20_000);
  });

  it.each([
    ['', 'needs a header line'],
    ['Rex,1', 'needs a header line'],
    ['name\nRex', '"categoryId" is missing'],
    ['name,name,categoryId\nRex,Rex,1', 'twice'],
  ])('the text %j is refused as a whole', async (text, message) => {
    await expect(readRows('csv', [text])).rejects.toThrow(message);
  });
});

describe('the lines of a file', () => {
  const CSV = 'name;category\n"two\nlines";1\n\nbad;x\n"a ""quoted"" one\n\n";y\na"b;1\n  ;3\nmore;1;2\nlast;z'.split(
    '\n',
  );
  const REFUSED_CSV = ['5 bad;x', '6 "a ""quoted"" one', '9 a"b;1', '10   ;3', '11 more;1;2', '12 last;z'];
  const JSON_TEXT = '\n[\n {"name":"a","categoryId":1},\n\n {"name":\n2},7\n, {"name":"b","categoryId":[\n]},\n x]';
  const REFUSED_JSON = ['5 {"name":', '6 7', '7 {"name":"b","categoryId":[', '9 x'];

  it.each([
    ['CSV with \\n', 'csv', CSV.join('\n'), REFUSED_CSV],
    ['CSV with \\r\\n', 'csv', CSV.join('\r\n'), REFUSED_CSV],
    ['CSV that ends in a line break', 'csv', `${CSV.join('\r\n')}\r\n`, REFUSED_CSV],
    ['CSV with \\r', 'csv', CSV.join('\r'), REFUSED_CSV],
    ['JSON', 'json', JSON_TEXT, REFUSED_JSON],
  ] as const)(
    'number the refused rows and quote them, wherever it is split: %s',
    async (_what, format, text, refused) => {
      const read = async (...pieces: string[]) => {
        const rows = (await readAllRows({ format }, pieces)).filter(({ pet }) => pet === null);
        return rows.map((row) => `${row.line} ${row.text().split(/[\r\n]/)[0]}`);
      };
      expect(await read(text)).toEqual(refused);
      for (let cut = 0; cut < text.length; cut++)
        expect(await read(text.slice(0, cut), text.slice(cut))).toEqual(refused);
    },
  );

  it('are found even after a quote that is never closed, in a long text too', async () => {
    const text = `name,categoryId\nRex,1\n"Moss,2\n${'x,1\n'.repeat(100)}`;
    const rows = await readAllRows({ format: 'csv' }, [text]);
    expect(rows.map(({ line, text: quoted }) => [line, quoted()])).toEqual([
      [2, 'Rex,1'],
      [3, '"Moss,2'],
    ]);
  });
});

describe('the format of a text', () => {
  it.each([
    ['name,categoryId', 'comma'],
    ['Name;Category', 'semicolon'],
    ['name\tcategoryId', 'tab'],
    ['name|categoryId', 'pipe'],
    ['"a;b;c",name', 'comma'],
    ['name', 'comma'],
  ])('%j is separated by a %s', (header, delimiter) => {
    expect(delimiterOf(header)).toBe(delimiter);
  });

  const rex = { pet: { name: 'Rex', categoryId: 4n, status: 'sold' } };

  it.each([
    ['what Excel writes in Europe', { format: 'csv' }, 'Name;Category;Status\r\nRex;4;sold\r\n', rex],
    ['a chosen separator', { format: 'csv', delimiter: 'pipe' }, 'name,x|categoryId|status\nRex|4|sold', undefined],
    [
      'chosen columns',
      { format: 'csv', columns: { name: 'Title', categoryId: 'kind', status: 'State' } },
      'title,Kind,state,name,status\nRex,4,sold,no,no',
      rex,
    ],
    ['an omitted column', { format: 'csv', columns: { id: '' } }, 'id,name,categoryId,status\nnone,Rex,4,sold', rex],
    [
      'chosen members',
      { format: 'json', columns: { name: 'title', id: '' } },
      '[{"id":"none","title":"Rex","categoryId":4,"status":"sold"}]',
      rex,
    ],
  ] satisfies [string, ImportForm, string, unknown][])('is %s', async (_what, form, text, expected) => {
    const reading = readAllRows(form, [text]);
    if (expected === undefined) await expect(reading).rejects.toThrow('"name" is missing');
    else expect(await reading).toMatchObject([expected]);
  });

  it('is refused if it names a column that the text does not have', async () => {
    const reading = readAllRows({ format: 'csv', columns: { name: 'Titel' } }, ['title,categoryId\nRex,1']);
    await expect(reading).rejects.toThrow('has no column "Titel" for name; its header line has title, categoryId');
  });
});

const resource = (name: string) => readFileSync(new URL(`../../../../resources/demo/${name}`, import.meta.url), 'utf8');

describe('the demo pets', async () => {
  const rows = await readRows('json', [resource('pets.json')]);

  it('are 30, all valid, with unique names', () => {
    expect(rows).toHaveLength(30);
    expect(rows.filter((row) => row.pet === null)).toEqual([]);
    expect(new Set(rows.map((row) => row.pet?.name)).size).toBe(30);
  });

  it('have every status, so that each filter shows something', () => {
    expect(new Set(rows.map((row) => row.pet?.status))).toEqual(new Set(['available', 'pending', 'sold']));
  });
});

describe('seeds', () => {
  const seeds = createPetSeeds(resource('seed.json'));

  it('have the requested number, and are the same every time', () => {
    const first = [...seeds.generate(500)];
    expect(first).toHaveLength(500);
    expect([...seeds.generate(500)]).toEqual(first);
  });

  it('are the same in parts as in one call', () => {
    const whole = [...seeds.generate(500)];
    const parts = [...seeds.generate(137), ...seeds.generate(300, 137), ...seeds.generate(63, 437)];
    expect(parts).toEqual(whole);
    expect([...seeds.generate(1, 999_999)]).toHaveLength(1);
  });

  it('are varied', () => {
    const pets = [...seeds.generate(500)];
    expect(new Set(pets.map((pet) => pet.name)).size).toBeGreaterThan(400);
    expect(new Set(pets.map((pet) => pet.status)).size).toBe(3);
    expect(new Set(pets.map((pet) => pet.categoryId)).size).toBe(5);
  });
});

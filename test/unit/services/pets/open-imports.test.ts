import { describe, expect, it } from 'vitest';
import type { Dataset } from '../../../../main/model/pet.ts';
import { createOpenImports, OPEN_IMPORTS_MAX, PIECE_MS_MAX, type Piece } from '../../../../main/services/pets/pets.ts';
import type { PetImport } from '../../../../main/services/pets/pet-import.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

const HERE: Dataset = { projectId: 'prj_here', environment: 'production' };
const piece = (more: Partial<Piece> = {}): Piece => ({
  dataset: HERE,
  format: 'json',
  importId: undefined,
  more: true,
  ...more,
});

const REX = '{"name":"Rex","categoryId":1},';

function setUp() {
  const clock = createFakeClock();
  return { clock, imports: createOpenImports(clock) };
}

/** Sends a piece; returns the import's id and how many rows it had. */
async function send(imports: ReturnType<typeof createOpenImports>, text: string, more: Partial<Piece> = {}) {
  let rows = 0;
  const count = async (reading: PetImport) => {
    for await (const some of reading.read(text)) rows += some.length;
    if (more.more === false) for await (const some of reading.end()) rows += some.length;
  };
  return { id: await imports.take(piece(more), count), rows };
}

describe('an import in pieces', () => {
  it('continues where the previous piece ended, until there are no more', async () => {
    const { imports } = setUp();
    const { id, rows } = await send(imports, '[{"name":"Rex","categoryId":1},{"na');
    expect([typeof id, rows]).toEqual(['string', 1]);
    expect(await send(imports, 'me":"Tom","categoryId":2},', { importId: id })).toEqual({ id, rows: 1 });
    expect(await send(imports, '{"name":"Kim","categoryId":3}]', { importId: id, more: false })).toEqual({
      id: undefined,
      rows: 1,
    });
    await expect(send(imports, '', { importId: id })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is not kept if it has only one', async () => {
    const { imports } = setUp();
    expect(await send(imports, '[{"name":"Rex","categoryId":1}]', { more: false })).toEqual({ id: undefined, rows: 1 });
  });

  it('is forgotten if the next piece does not arrive in time', async () => {
    const { clock, imports } = setUp();
    const { id } = await send(imports, '[');
    await clock.pass(PIECE_MS_MAX - 1);
    await send(imports, REX, { importId: id });
    await clock.pass(PIECE_MS_MAX - 1);
    await send(imports, REX, { importId: id });
    await clock.pass(PIECE_MS_MAX);
    await expect(send(imports, REX, { importId: id })).rejects.toThrow('within 60 s');
  });

  it('is forgotten after an error', async () => {
    const { imports } = setUp();
    const { id } = await send(imports, '');
    await expect(send(imports, '{}', { importId: id })).rejects.toThrow('must be a JSON array');
    await expect(send(imports, '', { importId: id })).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([
    { dataset: { projectId: 'prj_other', environment: 'production' } },
    { dataset: { projectId: 'prj_here', environment: 'staging' } },
    { format: 'csv' },
  ] satisfies Partial<Piece>[])('keeps its dataset and format: %j', async (other) => {
    const { imports } = setUp();
    const { id } = await send(imports, '[');
    await expect(send(imports, REX, { importId: id, ...other })).rejects.toThrow(
      'was started as json for production of project prj_here',
    );
  });

  it('accepts one piece at a time', async () => {
    const { imports } = setUp();
    const { id } = await send(imports, '[');
    const first = send(imports, REX, { importId: id });
    await expect(send(imports, REX, { importId: id })).rejects.toMatchObject({ code: 'conflict' });
    expect((await first).rows).toBe(1);
  });

  it('makes room for others when too many wait, longest waiting first', async () => {
    const { imports } = setUp();
    const begun: (string | undefined)[] = [];
    for (let number = 0; number <= OPEN_IMPORTS_MAX; number++) begun.push((await send(imports, '[')).id);
    await expect(send(imports, '', { importId: begun[0] })).rejects.toMatchObject({ code: 'not_found' });
    expect((await send(imports, REX, { importId: begun[1] })).rows).toBe(1);
  });
});

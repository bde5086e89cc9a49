// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { OutcomeUnknownError } from '../../../../../renderer/connection/transport.ts';
import {
  clearing,
  exporting,
  formatOf,
  importing,
  pagesOf,
  seeding,
} from '../../../../../renderer/pages/pets/pet-works.ts';
import { encodingOf } from '../../../../../renderer/pages/pets/import/encoding.ts';
import { type Encoding, textPieces, UnreadableFileError } from '../../../../../renderer/shared/display/text-pieces.ts';
import { Works } from '../../../../../renderer/shared/session/works.svelte.ts';
import { refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';
import { NO_FILTER } from '../../../../support/page/page-pets.ts';

function setUp() {
  const parts = pageParts();
  const dataset = { client: parts.client, projectId: 'prj_demo', environment: 'staging' } as const;
  return { ...parts, works: new Works(parts.time), dataset };
}

/** Lets work in parts run to its end. */
async function untilEnded(work: { ended: boolean }): Promise<void> {
  for (let turn = 0; turn < 500 && !work.ended; turn++) await settle();
  expect(work.ended).toBe(true);
}

describe('seeding', () => {
  it('is requested in parts that add up to the whole, and shows its progress', async () => {
    const { time, answers, works, dataset, asked } = setUp();
    const seen: [number, string][] = [];
    answers['pets.seed'] = ({ count }: { count: number }) => {
      seen.push([works.list[0]?.share ?? -1, works.list[0]?.note ?? '']);
      return { created: count, rejected: [], rejectedTotal: 0 };
    };
    const work = works.start(seeding(dataset, 12_000));
    await untilEnded(work);
    expect(asked('pets.seed')).toMatchObject([
      { count: 5_000, skip: 0 },
      { count: 5_000, skip: 5_000 },
      { count: 2_000, skip: 10_000 },
    ]);
    expect(seen[2]).toEqual([10_000 / 12_000, '10,000 of 12,000 pets added']);
    expect([work.state, work.result]).toEqual(['done', '12,000 pets added to staging.']);
    await time.pass(10_000);
    expect(works.list).toEqual([]);
  });

  it('stops between two parts', async () => {
    const { answers, works, dataset } = setUp();
    answers['pets.seed'] = () => {
      works.list[0]?.stop();
      return { created: 5_000, rejected: [], rejectedTotal: 0 };
    };
    const work = works.start(seeding(dataset, 1_000_000));
    await untilEnded(work);
    expect([work.state, work.result]).toEqual(['stopped', '5,000 pets added to staging.']);
  });

  it('stays visible with the reason when it fails', async () => {
    const { time, answers, works, dataset } = setUp();
    answers['pets.seed'] = refuses('unavailable', 'The disk is full.');
    const work = works.start(seeding(dataset, 10));
    await untilEnded(work);
    await time.pass(60_000);
    expect([work.state, work.result, works.list.length]).toEqual(['failed', 'The disk is full.', 1]);
    works.dismiss(work);
    expect(works.list).toEqual([]);
  });

  it('explains the effect of a lost connection', async () => {
    const { answers, works, dataset } = setUp();
    answers['pets.seed'] = () => Promise.reject(new OutcomeUnknownError());
    const work = works.start(seeding(dataset, 10));
    await untilEnded(work);
    expect(work.result).toBe('The connection to Vivarium was lost. The completed part stays.');
  });
});

it('clearing continues until none remain, even if others are added meanwhile', async () => {
  const { answers, works, dataset } = setUp();
  let left = 11_000;
  answers['pets.clear'] = ({ limit }: { limit: number }) => {
    const removed = Math.min(left, limit);
    left -= removed;
    if (left === 6_000) left += 10;
    return { removed, left };
  };
  const work = works.start(clearing(dataset, 11_000));
  await untilEnded(work);
  expect([left, work.result]).toEqual([0, '11,010 pets removed from staging.']);
});

describe('an import', () => {
  type Rejected = { row: number; message: string }[];
  const report = (created: number, rejected: Rejected = []) => ({ created, rejected, rejectedTotal: rejected.length });

  it('sends the file in connected pieces, and adds up their reports', async () => {
    const { time, answers, works, dataset, asked } = setUp();
    answers['pets.import'] = ({ more, text }: { more: boolean; text: string }) => {
      const bad = Array.from({ length: text === '' ? 0 : 400 }, (_, row) => ({ row, message: 'no' }));
      return { ...report(text === '' ? 1 : 10, bad), ...(more && { importId: 'imp_1' }) };
    };
    const file = new Blob(['x'.repeat(600_000)]);
    const work = works.start(importing(dataset, { file, name: 'a.csv', form: { format: 'csv' } }));
    await untilEnded(work);
    const pieces = asked('pets.import') as { text: string; more: boolean; importId?: string }[];
    expect(pieces.map(({ text, more, importId }) => [text.length, more, importId])).toEqual([
      [262_144, true, undefined],
      [262_144, true, 'imp_1'],
      [75_712, true, 'imp_1'],
      [0, false, 'imp_1'],
    ]);
    expect(work.report).toMatchObject({ created: 31, rejectedTotal: 1_200, rejected: { length: 1_000 } });
    await time.pass(60_000);
    expect([work.state, work.result, works.list.length]).toEqual(['done', '31 pets added, 1,200 rows refused', 1]);
  });

  it('returns the ids of what it added, which Undo removes in parts, and nothing else', async () => {
    const { answers, works, dataset, asked } = setUp();
    const ids = [{ first: '4', last: '6003' }];
    answers['pets.import'] = ({ more }: { more: boolean }) =>
      more ? { ...report(6_000), added: ids, importId: 'imp_1' } : { ...report(0), added: [] };
    const told: unknown[] = [];
    const source = { file: new Blob(['x']), name: 'a.csv', form: { format: 'csv' } } as const;
    await untilEnded(works.start(importing(dataset, source, (...added) => told.push(added))));
    expect(told).toEqual([[ids, 6_000]]);
    let left = 6_000;
    answers['pets.clear'] = ({ limit }: { limit: number }) => {
      const removed = Math.min(left, limit);
      left -= removed;
      return { removed, left: 77 };
    };
    const removal = works.start(clearing(dataset, 6_000, ids));
    await untilEnded(removal);
    expect(asked('pets.clear')).toMatchObject([{ ids }, { ids }]);
    expect(removal.result).toBe('6,000 pets removed from staging.');
  });

  it('reports faults of the text as a whole', async () => {
    const { answers, works, dataset } = setUp();
    answers['pets.import'] = refuses('invalid_request', 'text: must be a JSON array.');
    const work = works.start(importing(dataset, { file: new Blob(['{}']), name: 'a.json', form: { format: 'json' } }));
    await untilEnded(work);
    expect([work.state, work.result]).toEqual(['failed', 'text: must be a JSON array.']);
  });
});

describe('an export', () => {
  const pet = (id: number) => ({ id: String(id), name: `Pet ${id}`, categoryId: '1', status: 'sold' });

  /** An engine with 2,500 pets, listed by id or from a position. */
  function setUpList() {
    const parts = setUp();
    const all = Array.from({ length: 2_500 }, (_, index) => pet(index + 1));
    parts.answers['pets.list'] = ({ after, offset, limit }: { after?: string; offset?: number; limit: number }) => {
      const start = offset ?? Number(after ?? 0);
      const items = all.slice(start, start + limit);
      return { items, total: all.length, ...(start + limit < all.length && { next: items.at(-1)?.id }) };
    };
    return { ...parts, all };
  }

  it.each([
    ['all pets', undefined],
    ['a list', { ...NO_FILTER, sort: 'name', search: 'pet' }],
  ] as const)('of %s has every pet once, and its progress', async (_what, filter) => {
    const { works, dataset, all, asked } = setUpList();
    const files: string[] = [];
    const options = { title: 'Exporting', total: 2_500, format: 'ndjson' } as const;
    const work = works.start(exporting(options, pagesOf(dataset, filter), (parts) => files.push(parts.join(''))));
    await untilEnded(work);
    const lines = files.map((text) => text.trim().split('\n'));
    const ids = lines.map((each) => each.map((line) => String((JSON.parse(line) as { id: number }).id)));
    expect(ids).toEqual([all.map(({ id }) => id)]);
    expect(asked('pets.list')).toHaveLength(3);
    expect([work.result, work.note]).toEqual(['2,500 pets exported.', '2,500 of 2,500 pets written']);
  });

  it('that is stopped writes nothing', async () => {
    const { works, dataset } = setUpList();
    const files: unknown[] = [];
    const options = { title: 'Exporting', total: 2_500, format: 'csv' } as const;
    const work = works.start(exporting(options, pagesOf(dataset), (parts) => files.push(parts)));
    work.stop();
    await untilEnded(work);
    expect([files, work.state, work.result]).toEqual([[], 'stopped', 'Stopped; no file was written.']);
  });
});

describe('the pieces of a file', () => {
  const read = async (bytes: Uint8Array<ArrayBuffer>, size: number, encoding?: Encoding) => {
    const pieces = [];
    for await (const piece of textPieces(new Blob([bytes]), size, encoding)) pieces.push(piece);
    return pieces;
  };

  it('never split a character', async () => {
    const text = 'Zoë 🦊, 日本';
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size <= bytes.length; size++) {
      const pieces = await read(bytes, size);
      expect(pieces.map((piece) => piece.text).join('')).toBe(text);
      expect(pieces.at(-1)?.readTo).toBe(bytes.length);
    }
  });

  it('are read as UTF-16 with its byte order mark', async () => {
    const little = new Uint8Array([0xff, 0xfe, 0x41, 0x00, 0xeb, 0x00]);
    expect((await read(little, 3)).map(({ text }) => text).join('')).toBe('Aë');
  });

  it.each([
    ['utf-8', [0xef, 0xbb, 0xbf, 0xff]],
    ['utf-8', [0x5a, 0xc3, 0xab]],
    ['windows-1252', [0x5a, 0xeb, 0x80]],
    ['utf-16le', [0xff, 0xfe, 0xeb, 0xff]],
    ['utf-16be', [0xfe, 0xff, 0x00, 0xeb]],
    ['utf-16le', [0x5a, 0x00, 0xeb, 0x00]],
    ['utf-16be', [0x00, 0x5a, 0x00, 0xeb]],
    ['utf-8', []],
    // A character that crosses the end of the inspected part.
    ['utf-8', [...Array<number>(65_535).fill(0x41), 0xc3, 0xab]],
  ])('are recognised as %s', async (encoding, bytes) => {
    expect(await encodingOf(new Blob([new Uint8Array(bytes)]))).toBe(encoding);
  });

  it('are read in a chosen encoding', async () => {
    const pieces = await read(new Uint8Array([0x5a, 0xeb, 0x80]), 2, 'windows-1252');
    expect(pieces.map(({ text }) => text).join('')).toBe('Zë€');
  });

  it.each([
    ['in the middle', [0x41, 0xff, 0x41]],
    ['cut off at the end', [0x41, 0xc3]],
  ])('that are not text are refused: %s', async (_where, bytes) => {
    await expect(read(new Uint8Array(bytes), 2)).rejects.toThrow(UnreadableFileError);
    await expect(read(new Uint8Array(bytes), 2)).rejects.toThrow('is not UTF-8 text');
  });
});

it.each([
  ['pets.json', 'a,b', 'json'],
  ['PETS.CSV', '[', 'csv'],
  ['pets', '  [{', 'json'],
  ['', 'name,categoryId', 'csv'],
])('the format of %j that begins with %j is %s', (name, beginning, format) => {
  expect(formatOf(name, beginning)).toBe(format);
});

import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { hasTooManyStrings } from '../../../main/rpc/body.ts';
import { jsonInTurns, refuseConnection } from '../../../main/rpc/responses.ts';

const LONG = Array.from({ length: 1_001 }, (_, index) => ({ index, text: `"é" ${index}`, left: undefined }));

describe('JSON in turns', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'é'],
    ['a record', { a: 1, b: undefined, c: [1, null], d: { e: [] } }],
    ['a long array', LONG],
    ['one in a record', { a: 1, left: undefined, items: LONG, next: 'x"' }],
    ['one in a record in a record', { log: { version: '1.2', left: undefined, entries: LONG }, next: null }],
    ['one in an array', [LONG]],
    ['one with its own toJSON', { items: { toJSON: () => 'said', LONG } }],
    ['a long array of values that JSON lacks', Array.from({ length: 300 }, () => undefined)],
  ])('equals JSON.stringify of %s', async (_what, value) => {
    expect((await jsonInTurns(value)).toString()).toBe(JSON.stringify(value ?? null));
  });

  it('lets other work run in between', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await jsonInTurns({ log: { entries: LONG } });
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(10);
  });
});

it('100,000 strings in one text are not too many', () => {
  const isTooMany = (count: number) => hasTooManyStrings(Buffer.from('""'.repeat(count)));
  expect([isTooMany(100_000), isTooMany(100_001)]).toEqual([false, true]);
});

it('a refusal may have another status than its code', () => {
  const socket = new PassThrough();
  refuseConnection(socket, new Error('Late.'), 408);
  expect(String(socket.read())).toMatch(/^HTTP\/1\.1 408 /);
});

import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../main/cli/client.ts';

async function read(...chunks: string[]) {
  async function* arriving() {
    yield* chunks;
  }
  const events: string[] = [];
  for await (const { event, data } of readEvents(arriving())) events.push(`${event} ${data}`);
  return events;
}

describe('a stream of events', () => {
  it.each<[string, string[], string[]]>([
    ['whole', ['event: message\ndata: 1\n\nevent: done\n\n'], ['message 1', 'done ']],
    ['in pieces', ['eve', 'nt: mess', 'age\nda', 'ta: {"a":', '1}\n', '\n'], ['message {"a":1}']],
    ['with comments', [': hello\n\n', 'data: 1\n\n', ': still\n\n'], ['message 1']],
    ['with carriage returns', ['event: message\r\ndata: 1\r\n\r\n'], ['message 1']],
    ['with data in two lines', ['data: a\ndata: b\n\n'], ['message a\nb']],
    ['without blanks', ['event:x\ndata:1\n\n'], ['x 1']],
    ['cut short', ['data: 1\n\ndata: 2\n'], ['message 1']],
    ['empty', [], []],
  ])('%s is read', async (_how, chunks, events) => {
    expect(await read(...chunks)).toEqual(events);
  });
});

import { expect, it } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { ENTRIES_MAX } from '../../../main/traffic/entry-log.ts';
import { createRecorder } from '../../../main/traffic/recorder.ts';
import { createSearch } from '../../../main/traffic/search.ts';
import { exchange, capturedRecord, REDACTOR } from '../../support/traffic-entries.ts';

it('a search finds the same whether or not equal bodies are searched once', () => {
  const recorder = createRecorder(createClock(), { onChanged: () => undefined });
  for (let count = 0; count < ENTRIES_MAX; count++) {
    const text = `${count % 7} ${'x'.repeat(2_000)}`;
    recorder.take(exchange({ record: capturedRecord({ responseBody: { chunks: [text], bytes: text.length } }) }));
  }
  const found = (once: boolean) => {
    const search = createSearch(REDACTOR, { once });
    return [...recorder.newestFirst()].filter((entry) => search.hasBody(entry, '3 x')).map(({ number }) => number);
  };
  expect(found(true)).toHaveLength(Math.floor((ENTRIES_MAX + 3) / 7));
  expect(found(true)).toEqual(found(false));
});

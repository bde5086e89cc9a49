// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { EntryDetail, RUNNING_MS } from '../../../../../../renderer/pages/traffic/entry/entry-detail.svelte.ts';
import { protocolOf } from '../../../../../../renderer/pages/traffic/entry/entry-look.ts';
import { refuses } from '../../../../../support/fake-client.ts';
import { settle } from '../../../../../support/fake-clock.ts';
import { makeDetail } from '../../../../../support/page/page-traffic.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

async function open(get: () => unknown) {
  const parts = pageParts({ 'traffic.get': get });
  const { entry } = new EntryDetail({ ...parts.source, id: 'trf_1' });
  await settle();
  return { ...parts, entry };
}

describe('one entry', () => {
  it.each([
    [
      'is gone if the engine does not have it, which is not a failure',
      refuses('not_found', 'There is no entry "trf_1".'),
      [null, undefined],
    ],
    ['shows why it could not be read', refuses('internal_error', 'It failed.'), [undefined, 'It failed.']],
  ])('%s', async (_what, get, shown) => {
    const { entry } = await open(get);
    expect([entry.value, entry.failure]).toEqual(shown);
  });

  it('is read again repeatedly while its request runs', async () => {
    let reads = 0;
    const running = makeDetail(1, { running: true, status: null });
    const { entry, time } = await open(() => ((reads += 1), reads < 3 ? running : makeDetail(1)));
    expect(entry.value?.running).toBe(true);
    await time.pass(10 * RUNNING_MS);
    expect([entry.value?.running, reads]).toEqual([undefined, 3]);
  });

  it('stays as it was read when it is removed later', async () => {
    const { answers, entry } = await open(() => makeDetail(1));
    answers['traffic.get'] = refuses('not_found', 'There is no entry "trf_1".');
    entry.reread('now');
    await settle();
    expect([entry.value?.id, entry.failure]).toEqual(['trf_1', undefined]);
  });

  it.each([
    ['1.0', 'HTTP/1.0'],
    ['1.1', 'HTTP/1.1'],
    ['2.0', 'HTTP/2'],
  ])('names protocol version %s %s', (httpVersion, named) => {
    expect(protocolOf({ httpVersion })).toBe(named);
  });
});

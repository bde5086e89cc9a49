import { expect, it } from 'vitest';
import { startVivarium } from '../../../main/embed/index.ts';
import type { ExamineRow } from '../../../main/embed/types.ts';

/** A client that asks again, once, whatever it is about. */
const withRetry =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const ask = async () => {
      const answer = await fetch(input, init);
      if (answer.status >= 429) throw new Error(`${init?.method ?? 'GET'}: ${answer.status}`);
      return answer;
    };
    try {
      return await ask();
    } catch {
      return ask();
    }
  };

const REX = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Rex","categoryId":1}' };

it('a test in code is examined, and the world is as before', async () => {
  await using vivarium = await startVivarium();
  const shop = await vivarium.tenant({ pets: 3 });
  const fetch = withRetry(shop.fetch);
  const { calm, rows } = await vivarium.examine(
    [
      { break: 'api.unavailable' },
      { break: 'connection.reset-mid-body' },
      { break: 'dns.servfail' },
      { break: 'tls.expired' },
    ],
    async () => {
      const pets = (await (await fetch('/pets')).json()) as unknown[];
      expect(pets).toHaveLength(3);
    },
  );
  expect(calm).toMatchObject({ tests: 1, left: [] });
  expect(rows.map(({ row, verdict }) => [row, verdict])).toEqual([
    ['api.unavailable', 'survived'],
    // The body is read after the retry.
    ['connection.reset-mid-body', 'failed_as_it_should'],
    // Node’s resolver asks again.
    ['dns.servfail', 'survived'],
    ['tls.expired', 'survived'],
  ]);
  expect(await vivarium.breaks.list()).toEqual([]);
  expect(await vivarium.snapshots.list()).toEqual([]);
});

it('a repeated POST is wrong, and rejects with the report', async () => {
  await using vivarium = await startVivarium();
  const shop = await vivarium.tenant({ pets: 3 });
  const fetch = withRetry(shop.fetch);
  const creating = vivarium.examine('quick', async () => void (await fetch('/pets', REX)), {
    only: ['500-after-commit'],
  });
  await expect(creating).rejects.toThrow(
    /table quick \(1 of \d+ rows\), seed 1\n[^]*500-after-commit +wrong +POST \/v1\/pets, the 1st\n +The target carried out 2 equal/,
  );
  const fails = vivarium.examine([{ row: 'own', break: 'api.unavailable', expect: 'hung' }], async () => {
    if ((await shop.fetch('/pets')).status !== 200) throw new Error('HTTP 503');
  });
  await expect(fails).rejects.toThrow(
    /Repeat it with: vivarium\.examine\(rows, test, \{ only: \['own'\], seed: 1 \}\)/,
  );
  await expect(fails).rejects.toMatchObject({
    report: { rows: [{ verdict: 'failed_as_it_should', expected: ['hung'] }] },
  });
  expect((await vivarium.pets.list({ projectId: shop.id })).total).toBe(3);
});

it('wrong input is refused', async () => {
  await using vivarium = await startVivarium();
  const nothing = () => undefined;
  await expect(vivarium.examine('quik', nothing)).rejects.toThrow('There is no table "quik".');
  await expect(vivarium.examine([{ break: 'api.unavailble' }], nothing)).rejects.toThrow(
    'Did you mean "api.unavailable"?',
  );
  const refused = (row: Omit<ExamineRow, 'break'>) =>
    expect(vivarium.examine([{ break: 'http.status', ...row }], nothing)).rejects;
  await refused({ parameters: { stauts: 1 } }).toThrow(
    'The row http.status is not valid: parameters.stauts: is not a parameter of http.status; it has status',
  );
  await refused({ on: { hostname: 'nope.test' } }).toThrow('nope.test is not served; ');
  await refused({ on: { method: 'FETCH' } }).toThrow('"FETCH" is no method of HTTP, such as "POST".');
  await refused({ parameters: { status: 204, body: 'x' } }).toThrow(
    'parameters.body: cannot be sent: an answer of 204 has no body.',
  );
  await expect(startVivarium({ clock: 'yesterday' })).rejects.toThrow('clock must be a moment');
  await expect(vivarium.examine([{ brek: 'x' } as never], nothing)).rejects.toThrow(
    'The table is not valid: [0].break is required: a string; [0].brek is not a known property; the nearest is "break".',
  );
  await expect(vivarium.examine([], nothing)).rejects.toThrow('the input must be at least 1 item long.');
  await refused({ expect: 'survivd' as never }).toThrow(
    '[0].expect must be one of not_met, survived, failed_as_it_should, hung, wrong, or a list of them; the nearest is survived.',
  );
  await expect(vivarium.examine('quick', nothing, { seed: -1 })).rejects.toThrow(
    'The option seed of examine must be a whole number from 0 to 4294967295, not -1.',
  );
  await expect(vivarium.examine('quick', nothing, { seeds: 1 } as object)).rejects.toThrow('Did you mean "seed"?');
  await expect(vivarium.examine('quick', () => Promise.reject(new Error('no server')))).rejects.toThrow(
    'No test passes twice without faults. no server',
  );
});

import { expect, it } from 'vitest';
import { CATALOGUE } from '../../../main/breaks/catalogue/index.ts';
import { withBreaks, rootSeen, storeSeen } from '../../../main/doctor/checkup.ts';
import { evaluateRoot, evaluateStore } from '../../../main/doctor/root.ts';
import type { StoreTrust } from '../../../main/contract/certificates.ts';

const STORE: StoreTrust = { store: 'system', title: 'The system', state: 'trusted', message: 'It has the root.' };
const NOW = Date.parse('2026-11-23T08:00:00Z');
const DAY_MS = 86_400_000;

/** What the doctor finds in both areas while an entry is broken. */
function looked(broken: string | null) {
  const fault = { breakId: 'brk_1', entry: broken ?? '', parameters: { days: 9 }, draw: 0 };
  const look = withBreaks({ named: (entry) => (entry === broken ? fault : null) }, (find) => [
    evaluateStore(storeSeen(find, STORE), 'linux'),
    evaluateRoot({
      ...{ file: 'root.pem', usedFingerprint: null, realNowMs: NOW, platform: 'linux' },
      certificate: rootSeen(
        find,
        {
          state: 'read',
          fingerprint: 'AB',
          notBeforeMs: NOW - DAY_MS,
          notAfterMs: NOW + 3_650 * DAY_MS,
          isAuthority: true,
        },
        NOW,
      ),
    }),
  ]);
  return look();
}

it.each([
  ['machine.root-gone', 'The system no longer has the root.'],
  ['ca.root-ending', 'It expires in 9 days.'],
])('%s is found and named', async (entry, evidence) => {
  expect((await looked(null)).map(({ status }) => status)).toEqual(['ok', 'ok']);
  const wrong = (await looked(entry)).filter(({ status }) => status !== 'ok');
  expect(wrong).toMatchObject([{ status: 'warning' }]);
  expect(wrong[0]?.evidence).toEqual(
    expect.arrayContaining([evidence, `Broken on purpose: ${entry}. Nothing on this machine was changed.`]),
  );
  // Its own advice would change what is right.
  expect(wrong[0]).toMatchObject({ fix: expect.stringMatching(/^Repair/), commands: 'vivarium break off brk_1' });
});

it('only entries of the catalogue are probed', async () => {
  const asked: string[] = [];
  await withBreaks({ named: (entry) => (asked.push(entry), null) }, (find) => {
    storeSeen(find, STORE);
    return [];
  })();
  expect(CATALOGUE.map(({ id }) => id)).toEqual(expect.arrayContaining(asked));
});

import { expect, it, vi } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { DRILLS } from '../../../main/drills/catalogue/index.ts';
import { rightCause } from '../../../main/drills/drill.ts';
import { createDrills, type DrillStorage, type Practice } from '../../../main/drills/drills.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';

const GROUND = { projectId: 'prj_1', hostname: 'drill.test', keyId: 'key_1', secret: 'viv_1', serial: null };

/** A playground that counts as created while `places` contains it. */
function practiceIn(places: string[]) {
  return {
    check: () => Promise.resolve(),
    make: vi.fn<Practice['make']>(() => Promise.resolve((places.push('ground'), GROUND))),
    createProblems: vi.fn<Practice['createProblems']>(() => Promise.resolve()),
    remove: vi.fn<Practice['remove']>(() => Promise.resolve(void places.splice(0))),
    observe: (_drill, ground) =>
      Promise.resolve({ ground, isThere: true, requests: [], domain: null, certificate: null }),
    fill: (text) => text,
  } satisfies Practice;
}

function stage() {
  const places: string[] = [];
  const kept: { value: unknown } = { value: undefined };
  const storage: DrillStorage = { read: () => kept.value, write: (value) => (kept.value = structuredClone(value)) };
  const practice = practiceIn(places);
  const engine = (clock: FakeClock = createFakeClock()) => ({
    clock,
    drills: createDrills({ clock, log: silentLog, storage, drills: DRILLS, practice, onChanged: () => undefined }),
  });
  return { places, kept, practice, engine };
}

const current = (drills: ReturnType<typeof createDrills>) => drills.list().find(({ running }) => running !== undefined);

it('removes the objects of a failed start, and reports the reason', async () => {
  const { places, practice, engine } = stage();
  const { drills } = engine();
  practice.createProblems.mockRejectedValueOnce(new Error('The disk is full.'));
  await expect(drills.start('hammering')).rejects.toThrow('The disk is full.');
  expect([places, drills.shown()]).toEqual([[], null]);
  await drills.start('hammering');
  expect([places, drills.shown()]).toMatchObject([['ground'], { entry: 'drill', on: { hostname: 'drill.test' } }]);
});

it('is not listed as running while its project is prepared', async () => {
  const { practice, engine } = stage();
  const { drills } = engine();
  const listed: unknown[] = [];
  practice.make.mockImplementationOnce(() => Promise.resolve((listed.push(current(drills)), GROUND)));
  await drills.start('hanging');
  expect([listed, current(drills)?.id]).toEqual([[undefined], 'hanging']);
});

it('continues after a restart, and removes what a killed engine left behind', async () => {
  const { places, kept, practice, engine } = stage();
  const { drills } = engine();
  await drills.start('hanging');
  const running = kept.value as { state: object };
  const again = engine().drills;
  await again.resume();
  expect(current(again)?.id).toBe('hanging');
  for (const phase of ['preparing', 'ending']) {
    for (const ground of [GROUND, null]) {
      kept.value = { ...running, state: { ...running.state, phase, ground } };
      places.push('left');
      const next = engine().drills;
      await next.resume();
      expect([places, next.shown()]).toEqual([[], null]);
      expect(practice.remove).toHaveBeenLastCalledWith(ground);
    }
  }
});

it('ends after a day of the app’s clock, even if it is set back, and after a failed end', async () => {
  const { kept, practice, engine } = stage();
  const { clock, drills } = engine();
  await drills.start('hanging');
  await clock.set(clock.now() - 10 * 86_400_000);
  await clock.advance(86_400_000 - 1);
  expect(current(drills)?.id).toBe('hanging');
  practice.remove.mockRejectedValueOnce(new Error('The disk is full.'));
  await clock.advance(1);
  await expect(drills.start('twice')).rejects.toThrow('The drill "hanging" is already running.');
  await drills.stop();
  expect(drills.shown()).toBeNull();
  await drills.start('twice');
  const late = engine(createFakeClock({ nowMs: clock.now() + 2 * 86_400_000 })).drills;
  await late.resume();
  expect([late.shown(), kept.value]).toMatchObject([null, { state: null }]);
});

it('records the player’s steps while a drill runs', async () => {
  const { drills } = stage().engine();
  drills.recordStep('pets.create');
  await drills.start('twice');
  drills.recordStep('records.put drill.test');
  expect(current(drills)?.running?.steps.map(({ what }) => what)).toEqual(['records.put drill.test']);
});

it.each(DRILLS.map((drill) => [drill.id, drill] as const))('%s is complete', (_id, drill) => {
  const { causes, hints, title, story } = drill;
  expect(causes.filter(({ why }) => why === undefined)).toEqual([rightCause(drill)]);
  expect([causes.length, new Set(causes.map(({ id }) => id)).size, hints.length]).toEqual([4, 4, 3]);
  expect(`${title} ${story}`).not.toContain(rightCause(drill).text);
});

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/\p{L}{2,}/gu));
const COMMON = wordsOf(
  'a an and at by do does for how in is it its no not of on or that the to what where who why with',
);

it.each(DRILLS.map((drill) => [drill.id, drill] as const))('%s reveals nothing in its explanations', (_id, drill) => {
  const { title, story, causes, hints, teaches } = drill;
  const others = causes.flatMap(({ text, why }) => (why === undefined ? [] : [text, why]));
  const told = wordsOf([title, story, ...others].join(' '));
  const telling = wordsOf(`${rightCause(drill).text} ${hints.at(-1)}`);
  const isHint = (word: string): boolean => telling.has(word) && !told.has(word) && !COMMON.has(word);
  expect([...wordsOf(teaches)].filter(isHint)).toEqual([]);
});

it('there are twelve, covering everything that can break', () => {
  expect(DRILLS).toHaveLength(12);
  expect(new Set(DRILLS.map(({ subject }) => subject)).size).toBe(8);
});

import { expect, it } from 'vitest';
import type { DoctorArea, DoctorCheck } from '../../../main/contract/doctor.ts';
import { createDoctor, probe as probeOf, type Probe } from '../../../main/doctor/checkup.ts';
import { checkOf } from '../../../main/doctor/finding.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';

const probe = (area: DoctorArea, name: string, look: Probe['look']) => probeOf(area, name, name, look);
const well = (area: DoctorArea, name: string) => probe(area, name, () => [checkOf(area, name, name).ok('Well.')]);
const never = (): Promise<DoctorCheck[]> => new Promise(() => undefined);

function setUp(probes: readonly Probe[]) {
  const clock = createFakeClock();
  const ownCommand = (command: string) => `./${command} --here`;
  return { clock, doctor: createDoctor({ clock, probes: () => probes, running: true, ownCommand }) };
}

const brief = (checks: readonly DoctorCheck[]) => checks.map(({ id, status }) => `${id} ${status}`);

it('reports in the order of the areas, with counts and times', async () => {
  const { doctor } = setUp([well('root', 'b'), well('engine', 'a')]);
  expect(await doctor.run()).toMatchObject({
    checkedAt: '2026-11-20T09:00:00.000Z',
    elapsedMs: 0,
    running: true,
    counts: { failed: 0, warning: 0, ok: 2, skipped: 0 },
    checks: [{ id: 'engine.a' }, { id: 'root.b' }],
  });
});

it('checks only the requested areas', async () => {
  const { doctor } = setUp([well('root', 'b'), well('engine', 'a')]);
  expect(brief((await doctor.run(['root'])).checks)).toEqual(['root.b ok']);
});

it('runs expensive checks only on request', async () => {
  const skippedByDefault = checkOf('browsers', 'all', 'Browsers').skipped('Not tried.');
  const { doctor } = setUp([{ ...well('browsers', 'chromium'), skippedByDefault }, well('engine', 'a')]);
  expect(brief((await doctor.run()).checks)).toEqual(['engine.a ok', 'browsers.all skipped']);
  expect(brief((await doctor.run(['browsers'])).checks)).toEqual(['browsers.chromium ok']);
});

it('reports a probe that throws or hangs, and still shows the others', async () => {
  const { doctor, clock } = setUp([
    probe('data', 'hangs', never),
    probe('dns', 'throws', () => {
      throw new Error('no such table');
    }),
    well('engine', 'a'),
  ]);
  const report = doctor.run();
  await settle();
  await clock.pass(10_000);
  const { checks, counts } = await report;
  expect(brief(checks)).toEqual(['engine.a ok', 'dns.throws warning', 'data.hangs warning']);
  expect(counts.warning).toBe(2);
  expect(checks.map(({ evidence }) => evidence.join(' ')).join('\n')).toMatch(/no such table[^]*too long/);
});

it('reports what the user may not read as one failure, of the permissions, and not as five', async () => {
  const { doctor } = setUp([
    probe('data', 'kept', () => {
      throw Object.assign(new Error("EACCES: permission denied, stat '/d/ca'"), { code: 'EACCES' });
    }),
  ]);
  const { checks } = await doctor.run();
  expect(brief(checks)).toEqual(['data.kept skipped']);
  expect(checks[0]?.evidence.join(' ')).toMatch(/'\/d\/ca' The check Permissions says what to do\./);
});

it('runs four probes at a time, and ends however many hang', async () => {
  let begun = 0;
  const hanging = Array.from({ length: 20 }, (_, index) =>
    probe('data', `${index}`, () => {
      begun++;
      return never();
    }),
  );
  const { doctor, clock } = setUp(hanging);
  const report = doctor.run();
  await settle();
  expect(begun).toBe(4);
  await clock.pass(25_000);
  expect((await report).counts.warning).toBe(20);
  expect(begun).toBe(12);
});

it('shares the answer between identical concurrent requests', async () => {
  let looks = 0;
  const { doctor } = setUp([probe('data', 'a', () => (looks++, []))]);
  await Promise.all([doctor.run(['data', 'dns']), doctor.run(['dns', 'data'])]);
  expect(looks).toBe(1);
  await doctor.run(['data', 'dns']);
  expect(looks).toBe(2);
});

it('prints its own commands as they can be pasted here', async () => {
  const commands = ['vivarium serve', 'chmod 600 vivarium x'];
  const { doctor } = setUp([probe('data', 'a', () => [checkOf('data', 'a', 'A').failed('X.', 'Do.', commands)])]);
  const [check] = (await doctor.run()).checks;
  expect(check?.commands).toBe('./vivarium serve --here\nchmod 600 vivarium x');
});

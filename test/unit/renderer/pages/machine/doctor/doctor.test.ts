// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { DoctorArea, DoctorCheck, DoctorReport, DoctorStatus } from '../../../../../../main/contract/doctor.ts';
import {
  DoctorPage,
  joined,
  merge,
  placeOfCheck,
} from '../../../../../../renderer/pages/machine/doctor/doctor-page.svelte.ts';
import { placeOfField } from '../../../../../../renderer/shared/settings/settings-table.ts';
import { settle } from '../../../../../support/fake-clock.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

const AT = '2026-11-20T09:00:00.000Z';
const check = (area: DoctorArea, name: string, status: DoctorStatus = 'ok'): DoctorCheck => ({
  id: `${area}.${name}`,
  area,
  title: name,
  status,
  evidence: ['Found.'],
});

function report(...checks: DoctorCheck[]): DoctorReport {
  const count = (status: DoctorStatus) => checks.filter((each) => each.status === status).length;
  const counts = { failed: count('failed'), warning: count('warning'), ok: count('ok'), skipped: count('skipped') };
  return { checkedAt: AT, elapsedMs: 5, running: true, counts, checks };
}

function setUp(answer: (areas: readonly DoctorArea[] | undefined) => DoctorReport) {
  const parts = pageParts({ 'doctor.run': ({ areas }: { areas?: DoctorArea[] }) => answer(areas) });
  return { ...parts, page: new DoctorPage(parts.source), asked: () => parts.asked('doctor.run') };
}

describe('the Doctor page', () => {
  it('checks everything when it opens, and again on request, without a pause', async () => {
    const { page, asked } = setUp(() => report(check('dns', 'server'), check('root', 'key', 'failed')));
    expect(page.running).toBe(true);
    await settle();
    expect([page.running, page.of('failed').map(({ id }) => id)]).toEqual([false, ['root.key']]);
    page.runAgain();
    page.runAgain();
    expect(page.running).toBe(true);
    await settle();
    expect([page.running, asked()]).toEqual([false, [{}, {}]]);
  });

  it('checks after a change what that concerns, and keeps the rest', async () => {
    const { page, changes, time, asked } = setUp((areas) =>
      areas === undefined
        ? report(check('dns', 'server'), check('domains', 'a.test'), check('clock', 'app'))
        : report(check('clock', 'app', 'warning')),
    );
    await settle();
    changes.tell({ type: 'clock.changed', at: AT });
    changes.tell({ type: 'pets.changed', at: AT });
    await time.pass(6_000);
    expect(asked()).toEqual([{}, { areas: ['clock', 'domains'] }]);
    expect(page.running).toBe(false);
    expect(page.query.value?.checks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'dns.server ok',
      'clock.app warning',
    ]);
  });

  it('checks everything when the connection is back, including what it missed', async () => {
    let fails = false;
    const { page, changes, time, asked } = setUp(() => {
      if (fails) throw new Error('lost');
      return report(check('dns', 'server'));
    });
    await settle();
    fails = true;
    changes.tell({ type: 'ca.changed', at: AT });
    await time.pass(6_000);
    expect([page.query.failure !== undefined, page.running]).toEqual([true, false]);
    fails = false;
    changes.tell({ type: 'clock.changed', at: AT });
    await time.pass(6_000);
    expect(asked().at(-1)).toEqual({ areas: ['trust', 'root', 'domains', 'clock'] });
    changes.tell({ type: 'everything' });
    await time.pass(6_000);
    expect(asked().at(-1)).toEqual({});
  });
});

it('a partial report replaces its part of the whole', () => {
  const whole = report(check('engine', 'process'), check('dns', 'server', 'failed'), check('root', 'key'));
  const part = report(check('dns', 'server'), check('dns', 'resolver', 'warning'));
  const merged = merge(whole, part, ['dns']);
  expect(merged.checks.map(({ id }) => id)).toEqual(['engine.process', 'dns.server', 'dns.resolver', 'root.key']);
  expect(merged.counts).toEqual({ failed: 0, warning: 1, ok: 3, skipped: 0 });
  const four = ['a.test', 'b.test', 'c.test', 'd.test'].map((name) => check('domains', name));
  const titles = joined([check('root', 'key'), ...four]).map(({ title }) => title);
  expect(titles).toEqual(['key', '4 domains: a.test, b.test, c.test, …']);
});

const SHOP = { page: 'project', project: 'shop' } as const;
const A_TEST = { page: 'domains', project: 'shop', item: 'a.test' } as const;

it.each([
  [{ id: 'domains.a.test', area: 'domains', projectId: 'p' }, A_TEST],
  [{ id: 'domains.a.test', area: 'domains', projectId: 'gone' }, undefined],
  [{ id: 'domains.platform', area: 'domains' }, undefined],
  [{ id: 'upstreams.shop', area: 'upstreams', projectId: 'p' }, SHOP],
  [{ id: 'trust.system', area: 'trust' }, { page: 'authority' }],
  [{ id: 'root.key', area: 'root' }, { page: 'authority' }],
  [{ id: 'dns.resolver', area: 'dns' }, placeOfField('Resolver')],
  [{ id: 'dns.server', area: 'dns' }, undefined],
] as const)('%j is resolved at %j', (of, place) => {
  expect(placeOfCheck(of, [{ id: 'p', slug: 'shop' }])?.place).toEqual(place);
});

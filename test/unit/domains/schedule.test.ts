import { expect, it } from 'vitest';
import { ATTACHED, RECHECK_INTERVAL_MS } from '../../../main/domains/hostname-machine.ts';
import type { AttachedDomain } from '../../../main/domains/domain-set.ts';
import { createSchedule } from '../../../main/domains/schedule.ts';
import { attachedDomain } from '../../support/domains-world.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../support/fake-clock.ts';

const HOUR = 3_600_000;

const attached = (hostname: string, attachedAtMs: number) =>
  attachedDomain({ ...ATTACHED, id: hostname, hostname, nextCheckAtMs: attachedAtMs + RECHECK_INTERVAL_MS });

it('an added domain is checked at its time, before or after the others, without a scan of all of them', async () => {
  const clock = createFakeClock();
  const domains = new Map<string, AttachedDomain>();
  const checked: string[] = [];
  let looks = 0;
  const schedule = createSchedule({
    clock,
    domains: { list: () => (looks++, [...domains.values()]) },
    run(domain) {
      const nowMs = clock.now();
      checked.push(`${domain.hostname} ${(nowMs - FAKE_NOW_MS) / HOUR}`);
      const nextCheckAtMs = nowMs + RECHECK_INTERVAL_MS;
      domains.set(domain.hostname, { ...domain, lastCheckedAtMs: nowMs, nextCheckAtMs });
      return Promise.resolve();
    },
  });
  const add = (hostname: string) => {
    const domain = attached(hostname, clock.now());
    domains.set(hostname, domain);
    schedule.add(domain);
  };
  add('first');
  await clock.advance(HOUR);
  looks = 0;
  add('later');
  expect(looks).toBe(0);
  await clock.set(FAKE_NOW_MS - HOUR);
  add('earlier');
  await clock.advance(27 * HOUR);
  expect(checked).toEqual(['earlier 23', 'first 24', 'later 25']);
  schedule.stop();
});

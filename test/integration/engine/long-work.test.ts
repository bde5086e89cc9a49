/** What thousands of domains, records or pets take does not keep everything else waiting. */
import { expect, it } from 'vitest';
import { startEngine } from '../../support/engine.ts';
import { turnsDuring } from '../../support/turns.ts';

const CALL = { signal: undefined };
const DOMAINS = 320;

it('lets other work run while domains are imported, listed and exported', async () => {
  const { services } = (await startEngine({ empty: true })).app;
  const names = Array.from({ length: DOMAINS }, (_, number) => `d${number}`);
  const text = JSON.stringify({
    vivarium: 1,
    projects: {
      many: {
        plan: 'pro',
        domains: Object.fromEntries(names.map((name) => [`${name}.many.test`, {}])),
        pets: { production: names.map((name) => ({ name, categoryId: 1 })) },
      },
    },
    zones: { 'many.test': names.map((name) => `${name} CNAME cname.vivarium.localhost.`).join('\n') },
  });
  // Two steps for each of both long parts, five for the zone's records, and two to see who has the domains.
  expect(await turnsDuring(() => services.world.diff({ text }, CALL))).toBeGreaterThanOrEqual(10);
  expect(await turnsDuring(() => services.world.apply({ text }, CALL))).toBeGreaterThan(DOMAINS);
  await services.clock.advance({ by: 'P2D' }, CALL);
  expect(await services.certificates.list({}, CALL)).toHaveLength(DOMAINS);
  expect(await turnsDuring(() => services.certificates.list({}, CALL))).toBeGreaterThanOrEqual(3);
  expect(await turnsDuring(() => services.domains.list({}, CALL))).toBeGreaterThanOrEqual(2);
  expect(await turnsDuring(() => services.world.export(undefined, CALL))).toBeGreaterThanOrEqual(2);
});

/** Work on thousands of domains, records or pets does not block everything else. */
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
  // Two steps for each of both long parts, five for the zone's records, and two to find the owners of the domains.
  expect(await turnsDuring(() => services.world.diff({ text }, CALL))).toBeGreaterThanOrEqual(10);
  expect(await turnsDuring(() => services.world.apply({ text }, CALL))).toBeGreaterThan(DOMAINS);
  await services.clock.advance({ by: 'P2D' }, CALL);
  expect(await services.certificates.list({}, CALL)).toHaveLength(DOMAINS);
  expect(await turnsDuring(() => services.certificates.list({}, CALL))).toBeGreaterThanOrEqual(3);
  expect(await turnsDuring(() => services.domains.list({}, CALL))).toBeGreaterThanOrEqual(2);
  expect(await turnsDuring(() => services.world.export(undefined, CALL))).toBeGreaterThanOrEqual(2);
});

it('lets other work run while more records at one name become visible than fit into one turn', async () => {
  const { services } = (await startEngine({ empty: true })).app;
  const COUNT = 1_500;
  const text = (ttl: number) =>
    Array.from({ length: COUNT }, (_, number) => `h ${ttl} A 10.0.${number >> 8}.${number & 255}`).join('\n');
  await services.settings.update({ propagation: 'PT1H' }, CALL);
  await services.zones.create({ name: 'big.test', supportsAlias: false }, CALL);
  let happened: string[] = [];
  for (const ttl of [60, 30]) {
    await services.zones.import({ name: 'big.test', text: text(ttl), files: {}, force: false }, CALL);
    const pass = async () => ({ happened } = await services.clock.advance({ by: 'PT1H' }, CALL));
    // If the TTL differs, the present records end first.
    expect(await turnsDuring(pass)).toBeGreaterThanOrEqual((ttl === 60 ? COUNT : 2 * COUNT) / 500);
    expect(happened).toContain('1 DNS change is visible now.');
    const { answer } = await services.dns.query({ name: 'h.big.test', type: 'A' }, CALL);
    expect([answer.length, new Set(answer.map((record) => record.ttl))]).toEqual([COUNT, new Set([ttl])]);
  }
});

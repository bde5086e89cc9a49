import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CA_ENTRIES } from '../../../main/breaks/catalogue/ca.ts';
import { openSite } from '../../support/acme/acme-site.ts';
import { ACME_CLIENTS, isInstalled, outputOf } from '../../support/breaks/break-acme-clients.ts';

/**
 * The whole table takes minutes: `BREAK_SYMPTOMS=FILE npx vitest run test/integration/acme/broken-ca.clients.test.ts` writes
 * it. Otherwise one client is asked about what differs between the parts of the server.
 */
const FILE = process.env.BREAK_SYMPTOMS;
const SAMPLE = [
  'ca.part-unavailable',
  'ca.rate-limited',
  'ca.caa-forbids',
  'ca.challenge-not-found',
  'ca.eab-demanded',
];

const CLIENTS_TIMEOUT_MS = 60_000;
const TABLE_TIMEOUT_MS = 1_800_000;

test(
  'clients report what the catalogue says',
  { timeout: FILE === undefined ? CLIENTS_TIMEOUT_MS : TABLE_TIMEOUT_MS },
  async ({ skip }) => {
    const site = await openSite();
    const found: Record<string, Record<string, string>> = {};
    for (const client of FILE === undefined ? (['lego'] as const) : ACME_CLIENTS) {
      if (!(await isInstalled(site, client))) continue;
      for (const entry of CA_ENTRIES) {
        if (FILE === undefined && !SAMPLE.includes(entry.id)) continue;
        (found[entry.id] ??= {})[client] = await outputOf(site, client, entry);
      }
    }
    if (FILE !== undefined) writeFileSync(FILE, JSON.stringify(found, null, 1));
    skip(Object.keys(found).length === 0, 'none of the clients is installed in the version that the catalogue names');
    for (const [id, said] of Object.entries(found)) {
      expect(CA_ENTRIES.find((entry) => entry.id === id)?.symptoms, id).toMatchObject(said);
    }
  },
);

test.each(['ca.part-unavailable', 'ca.rate-limited', 'ca.caa-forbids', 'ca.caa-servfail'])(
  'a custom domain gets no certificate during %s, and gets one afterwards',
  async (entry) => {
    const { engine } = await openSite();
    const { id: projectId } = await engine.call('projects.create', { name: 'Shop', plan: 'pro' });
    const { id } = await engine.call('breaks.start', { entry });
    const hostname = 'shop.acme.test';
    await engine.call('domains.attach', { projectId, hostname, local: true });
    const broken = await engine.call('domains.verify', { hostname });
    expect(broken.breaks).toEqual([{ id, entry }]);
    expect(broken.certificate.state).not.toBe('issued');
    expect(JSON.stringify(broken)).toContain(entry.startsWith('ca.caa') ? 'caa_' : `Broken on purpose: ${entry}`);
    await engine.call('breaks.stop', { id });
    expect(await engine.call('domains.get', { hostname })).toMatchObject({ certificate: { state: 'issued' } });
  },
);

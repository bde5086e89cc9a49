import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { findTool } from '../../support/tools.ts';

interface Rehearsed {
  events: { event: string; from: string; to: string }[];
  clients: { renewals: number; dark: { from: string; to: string; why: string }[] }[];
}

/** The Caddyfile of the guide. */
const [, CADDYFILE = ''] = /^```caddyfile\n([^]*?)^```/m.exec(readFileSync('docs/acme.md', 'utf8')) ?? [];

// Certificates of 160 hours: two renewals and an outage in ten days, then eight days of CAA for another CA.
test.skipIf(findTool('caddy') === null)(
  'Caddy survives an outage of the CA, and is dark exactly while CAA forbids its renewal',
  async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'Caddyfile'), CADDYFILE);
    const client = ['--client', 'caddy run', '--day', '500ms'];
    const time = ['--profile', 'shortlived', '--for', '20d', '--from', '2028-02-16', '--seed', '2'];
    const events = ['caa=8d', 'outage=1d', 'revocation=none', 'authorization=none'].flatMap((each) => [
      '--event',
      each,
    ]);
    const words = ['rehearse', 'renewals', 'www.guide-acme.test', ...client, ...time, ...events, '--json'];
    const { stdout, stderr, code } = await runCli(words, { cwd: folder, env: { TMPDIR: folder } });
    expect(code, stderr).toBe(1);
    const rehearsed = JSON.parse(stdout) as Rehearsed;
    expect(rehearsed.events.map(({ event }) => event)).toEqual(['outage', 'caa']);
    const caa = rehearsed.events[1];
    const [caddy] = rehearsed.clients;
    expect(caddy?.renewals).toBeGreaterThanOrEqual(2);
    const [dark, ...more] = caddy?.dark ?? [];
    expect(more).toEqual([]);
    expect(dark?.why).toContain('The record www.guide-acme.test. CAA 0 issue "ca.example" authorises ca.example only.');
    expect(dark?.to).toBe(caa?.to);
    expect(Date.parse(dark?.from ?? '')).toBeGreaterThan(Date.parse(caa?.from ?? ''));
    expect(readdirSync(folder)).toEqual(['Caddyfile']);
  },
);

test('tells why a client cannot be rehearsed', async () => {
  const words = ['rehearse', 'renewals', 'lit.acme.test', '--client', 'no-such-client'];
  const { stdout, stderr, code } = await runCli(words);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('The client obtained no certificate for lit.acme.test. It ended with 127.');
});

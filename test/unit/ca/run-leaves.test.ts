import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLeaf, createRunLeaves, RUN_DAYS } from '../../../main/ca/leaf.ts';
import { createRoot, describeRoot } from '../../../main/ca/root.ts';
import { DAY_MS, HOUR_MS } from '../../../main/contract/duration.ts';

const NOW = Date.parse('2026-11-28T10:00:00Z');
const HOST = 'api.vercel.com';

describe('the leaves of a run', () => {
  const { rootPem, leafAt } = createRunLeaves([HOST], NOW);
  const root = new X509Certificate(rootPem);

  it('are signed by their root, for its hosts only', () => {
    const leaf = new X509Certificate(leafAt(NOW)?.certificatePem ?? '');
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.subjectAltName).toBe(`DNS:${HOST}`);
  });

  it('last 24 hours at most, one after the other for a week', () => {
    for (let atMs = NOW; atMs < NOW + RUN_DAYS * DAY_MS - HOUR_MS; atMs += HOUR_MS) {
      const { validFromDate, validToDate } = new X509Certificate(leafAt(atMs)?.certificatePem ?? '');
      expect(validToDate.getTime() - validFromDate.getTime()).toBeLessThanOrEqual(DAY_MS);
      expect(validFromDate.getTime()).toBeLessThanOrEqual(atMs);
      expect(validToDate.getTime()).toBeGreaterThan(atMs);
    }
    expect(leafAt(NOW + (RUN_DAYS + 1) * DAY_MS)).toBeNull();
  });

  it('come from a root that permits no other name, no address and no intermediate', () => {
    const made = createRoot({ realNowMs: NOW, owner: 'test', suffixes: [HOST], ofRun: RUN_DAYS });
    expect(describeRoot(made)).toMatchObject({
      permittedSuffixes: [HOST],
      permittedAddresses: ['0.0.0.0/32', '::/128'],
      serversOnly: true,
    });
    expect(made.leavesOnly).toBe(true);
    const clock = { state: () => ({ now: NOW, realNow: NOW, offsetMs: 0, frozen: false }) };
    for (const name of ['api.cloudflare.com', 'vercel.com', 'demo.vivarium.localhost', '127.0.0.1', '::1'])
      expect(() => createLeaf({ issuer: made, hostnames: [name], clock })).toThrow(/may not sign/);
  });
});

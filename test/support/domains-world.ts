import { silentLog } from '../../main/base/log.ts';
import { VivariumError } from '../../main/contract/errors.ts';
import type { PersonaId } from '../../main/contract/provider-table.ts';
import type { Plan } from '../../main/contract/plans.ts';
import type { DomainRows, AttachedDomain } from '../../main/domains/domain-set.ts';
import { NO_CERTIFICATE } from '../../main/domains/hostname-machine.ts';
import type { Leaf } from '../../main/model/leaf.ts';
import { createLifecycle, type Lifecycle } from '../../main/domains/lifecycle.ts';
import type { Look } from '../../main/domains/checks/verify.ts';
import { presentDomain } from '../../main/domains/present.ts';
import type { ProviderFacts } from '../../main/domains/personas/provider.ts';
import { dnsOver, PLATFORM, type FakeDns, type Failures } from '../unit/domains/zones.ts';
import { createFakeClock } from './fake-clock.ts';
import { zoneOf } from './dns/dns-tables.ts';

const DAY_MS = 86_400_000;

export const WORLD_HOST = 'www.acme.test';
export const RIGHT = 'www CNAME cname.vivarium.localhost.';

/** A verified domain. */
export const attachedDomain = (changes: Partial<AttachedDomain> = {}): AttachedDomain => ({
  ...{ id: 'dom_1', hostname: WORLD_HOST, projectId: 'prj_1', kind: 'subdomain', state: 'verified', stateBefore: null },
  ...{ verifiedAtMs: 1, attachedAtMs: 1, lastCheckedAtMs: 1, nextCheckAtMs: null, seriesAtMs: null },
  ...{ checks: [], certificateChecks: [], certificate: NO_CERTIFICATE },
  ...changes,
});

/** The lifecycle over a DNS, a CA and a store in memory, on a clock that a test moves. */
export type DomainsWorld = ReturnType<typeof createDomainsWorld>;

export function createDomainsWorld() {
  const clock = createFakeClock();
  const project = {
    id: 'prj_1',
    name: 'Acme',
    slug: 'acme',
    plan: 'pro' as Plan,
    persona: 'animal-store' as PersonaId,
    deployed: true,
  };
  const settings = { issuanceDelayMs: 0 };
  const ca = { permits: true, fault: null as string | null, issued: 0 };
  const store = { fault: null as Error | null, writes: 0 };
  const provider = { facts: null as ProviderFacts | null };
  /** The served hostnames, each time they were published. */
  const published: string[][] = [];
  const removed: string[] = [];
  /** What a request over HTTP finds at an address; no answer elsewhere. */
  const front: Record<string, Look> = {};
  /** `hostname address` of every HTTP check. */
  const looked: string[] = [];
  let dns: FakeDns = dnsOver([PLATFORM]);
  let held: Promise<unknown> = Promise.resolve();

  const lifecycle: Lifecycle = createLifecycle({
    clock,
    log: silentLog,
    rows: memoryRows(store),
    dns: { query: (name, type) => held.then(() => dns.query(name, type)) },
    issuer: {
      permits: () => ca.permits,
      issue(hostname) {
        if (ca.fault !== null) throw new VivariumError('unavailable', ca.fault);
        ca.issued++;
        return leafAt(hostname, ca.issued, clock.now());
      },
    },
    cnameTarget: 'cname.vivarium.localhost',
    ownTarget: (slug) => `${slug}.vivarium.localhost`,
    others: () => [],
    provider: () => provider.facts,
    look: (hostname, address) => {
      looked.push(`${hostname} ${address}`);
      return Promise.resolve(front[address] ?? { served: false, status: null });
    },
    settings: () => ({
      issuanceDelayMs: settings.issuanceDelayMs,
      identity: { issuer: 'vivarium.localhost', accountUri: null, method: 'http-01' },
    }),
    project: (id) => (id === project.id ? project : null),
    publish() {
      const served = lifecycle
        .list()
        .filter(({ state, verifiedAtMs }) => state !== 'suspended' && verifiedAtMs !== null);
      published.push(served.map(({ hostname }) => hostname));
    },
    onRemoved: ({ hostname }) => void removed.push(hostname),
    onChanged: () => undefined,
  });
  clock.onAdjusted((change) => lifecycle.clockAdjusted(change));
  lifecycle.start();

  return {
    clock,
    lifecycle,
    /** Replaces the DNS of `acme.test` from now on. */
    zone: (text: string, failures?: Failures) => {
      dns = dnsOver([PLATFORM, zoneOf('acme.test', text)], failures);
    },
    plan(plan: Plan) {
      project.plan = plan;
      lifecycle.planChanged(project.id);
    },
    persona(persona: PersonaId) {
      project.persona = persona;
      lifecycle.personaChanged(project.id);
    },
    settings,
    ca,
    store,
    provider,
    project,
    published,
    removed,
    front,
    looked,
    asked: (): readonly string[] => dns.asked,
    /** Makes the next questions wait until the returned function is called. */
    holdDns() {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      held = promise;
      return () => resolve(undefined);
    },
    show: () =>
      presentDomain(lifecycle.get(WORLD_HOST), {
        rules: lifecycle.rules(lifecycle.get(WORLD_HOST)),
        zone: null,
        primary: false,
        breaks: [],
        isAttached: lifecycle.isAttached,
      }),
  };
}

function leafAt(hostname: string, serial: number, nowMs: number): Leaf {
  const notAfterMs = nowMs + 90 * DAY_MS;
  return {
    certificatePem: `certificate ${serial}`,
    privateKeyPem: 'key',
    serial: String(serial),
    fingerprint: String(serial),
    sans: [hostname],
    notBeforeMs: nowMs - 3_600_000,
    notAfterMs,
    wireNotBeforeMs: nowMs - 3_600_000,
    wireNotAfterMs: notAfterMs,
  };
}

function memoryRows(store: { fault: Error | null; writes: number }): DomainRows {
  const rows = new Map<string, AttachedDomain>();
  const leaves = new Map<string, Leaf>();
  const write = (): void => {
    if (store.fault !== null) throw store.fault;
    store.writes++;
  };
  return {
    list: () => [...rows.values()],
    insert(row) {
      write();
      rows.set(row.id, row);
    },
    update(changes) {
      write();
      for (const { row, leaf } of changes) {
        if (!rows.has(row.id)) continue;
        rows.set(row.id, row);
        if (leaf !== null) leaves.set(row.hostname, leaf);
      }
    },
    remove(id) {
      write();
      leaves.delete(rows.get(id)?.hostname ?? '');
      rows.delete(id);
    },
    leaf: (hostname) => leaves.get(hostname) ?? null,
  };
}

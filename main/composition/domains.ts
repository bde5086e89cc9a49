import { CNAME_TARGET, platformHostname } from '../base/config.ts';
import { wildcardOver } from '../contract/hostnames.ts';
import { whyUnserved } from '../domains/hostname-machine.ts';
import { createLifecycle } from '../domains/lifecycle.ts';
import { createServedLeaves } from '../domains/snapshot.ts';
import { releaseHostname } from '../services/domains/domains.ts';
import type { Looks } from '../proxy/front/loopback.ts';
import type { Certificates } from './certificates.ts';
import type { Dns } from './dns.ts';
import type { Foundation } from './foundation.ts';

export type Domains = ReturnType<typeof openDomains>;

export function openDomains(
  { clock, log, store, events, settings, onStop }: Foundation,
  parts: {
    issuer: Certificates['issuer'];
    dns: Dns;
    publish: () => void;
    looks: Looks;
    shareAccount: (projectId: string, otherId: string) => boolean;
  },
) {
  const { issuer, dns, publish } = parts;
  const lifecycle = createLifecycle({
    clock,
    log,
    shareAccount: parts.shareAccount,
    rows: store.domains,
    dns: dns.lookup,
    issuer,
    cnameTarget: CNAME_TARGET,
    ownTarget: (slug) => platformHostname(slug, 'production'),
    others(projectId) {
      const rows = store.projects.list();
      const persona = rows.find(({ id }) => id === projectId)?.persona;
      return rows.filter((row) => row.id !== projectId && row.persona === persona).reverse();
    },
    provider: dns.provider,
    look: (hostname, address) => parts.looks.look(hostname, address),
    settings() {
      const { domain, accountUri, method } = settings.current().caaIdentity;
      return { issuanceDelayMs: settings.inForce().issuanceDelayMs, identity: { issuer: domain, accountUri, method } };
    },
    project(projectId) {
      const row = store.projects.get(projectId);
      if (row === null) return null;
      return {
        ...row,
        get deployed() {
          return store.deploys.list(projectId).some(({ status }) => status === 'succeeded');
        },
      };
    },
    publish,
    onRemoved(domain) {
      leaves.drop(domain.hostname);
      if (releaseHostname(store.projects, domain)) events.emit('projects.changed', { projectId: domain.projectId });
    },
    onChanged(what, { hostname, projectId }) {
      if (what === 'certificate') leaves.drop(hostname);
      events.emit(what === 'certificate' ? 'certificates.changed' : 'domains.changed', { projectId });
    },
  });
  onStop(() => lifecycle.stop());
  clock.onAdjusted((change) => lifecycle.clockAdjusted(change));
  dns.onRecordsChanged(() => void lifecycle.recordsChanged());
  const leaves = createServedLeaves({ ...lifecycle, issuer, chainOf: issuer.chainOf, clock });
  store.snapshots.onRestored(() => {
    lifecycle.reload();
    leaves.dropAll();
  });
  const whyAttachedUnserved = (hostname: string): string | null => {
    const domain = lifecycle.find(hostname) ?? lifecycle.find(wildcardOver(hostname));
    return domain === null ? null : whyUnserved(domain, store.projects.get(domain.projectId)?.name ?? domain.projectId);
  };
  return { lifecycle, leaves, whyUnserved: whyAttachedUnserved };
}

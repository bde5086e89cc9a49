import type { Project } from '../../main/contract/projects.ts';
import type { Client } from '../connection/transport.ts';
import { formatCount, formatCounted } from '../time/format.ts';
import type { WorkOptions } from './works.svelte.ts';

const domains = (count: number): string => formatCounted(count, 'domain', 'domains');

/** Checks the DNS of many domains, one after the other. */
export function verifying(client: Client, hostnames: readonly string[]): WorkOptions {
  return {
    title: `Verifying ${domains(hostnames.length)}`,
    total: hostnames.length,
    async run(work) {
      let done = 0;
      let healthy = 0;
      for (const hostname of hostnames) {
        if (!work.going) break;
        const { state, certificate } = await client.domains.verify({ hostname });
        if (state === 'verified' && certificate.state === 'issued') healthy++;
        work.advance(++done, `${formatCount(done)} of ${domains(hostnames.length)} checked`);
      }
      return `${domains(done)} checked: ${formatCount(healthy)} verified, with a certificate.`;
    },
  };
}

export interface DomainWorkOptions {
  client: Client;
  projectId: string;
}

/** Removes many domains, one after the other. `ended` gets the removed ones, and the project as it was before. */
export function removing(
  { client, projectId }: DomainWorkOptions,
  hostnames: readonly string[],
  ended: (removed: readonly string[], before: Project) => void,
): WorkOptions {
  return {
    title: `Removing ${domains(hostnames.length)}`,
    total: hostnames.length,
    async run(work) {
      const removed: string[] = [];
      const before = await client.projects.get({ projectId });
      try {
        for (const hostname of hostnames) {
          if (!work.going) break;
          await client.domains.remove({ hostname });
          removed.push(hostname);
          work.advance(removed.length, `${formatCount(removed.length)} of ${domains(hostnames.length)} removed`);
        }
      } finally {
        if (removed.length > 0) ended(removed, before);
      }
      return `${domains(removed.length)} removed.`;
    },
  };
}

/** Attaches removed domains again, and restores their redirects and the primary. */
export function reattaching(
  { client, projectId }: DomainWorkOptions,
  hostnames: readonly string[],
  before: Project,
): WorkOptions {
  return {
    title: `Attaching ${domains(hostnames.length)} again`,
    total: hostnames.length,
    async run(work) {
      const back: string[] = [];
      let verified = 0;
      try {
        for (const hostname of hostnames) {
          if (!work.going) break;
          await client.domains.attach({ projectId, hostname });
          back.push(hostname);
          if ((await client.domains.verify({ hostname })).state === 'verified') verified++;
          work.advance(back.length, `${formatCount(back.length)} of ${domains(hostnames.length)} attached`);
        }
      } finally {
        await restoreUses({ client, projectId }, back, before);
      }
      return `${domains(back.length)} attached again: ${formatCount(verified)} verified.`;
    },
  };
}

/** Restores the redirects from and to domains that are attached again, and the primary. */
export async function restoreUses(
  { client, projectId }: DomainWorkOptions,
  hostnames: readonly string[],
  { primary, redirects }: Project,
): Promise<void> {
  if (primary !== null && hostnames.includes(primary)) {
    await client.domains.setPrimary({ projectId, hostname: primary });
  }
  const lost = redirects.filter(({ from, to }) => hostnames.includes(from) || hostnames.includes(to));
  if (lost.length === 0) return;
  const { redirects: kept } = await client.projects.get({ projectId });
  await client.domains.setRedirects({ projectId, redirects: [...kept, ...lost] });
}

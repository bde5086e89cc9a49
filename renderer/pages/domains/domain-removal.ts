import type { RunningBreak } from '../../../main/contract/breaks.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { Client } from '../../connection/transport.ts';
import { domains } from '../../shared/domains/domain-works.ts';
import type { Breaks } from '../../shared/session/breaks.svelte.ts';
import type { WorkOptions } from '../../shared/session/works.svelte.ts';
import { formatCount } from '../../shared/time/format.ts';

export interface DomainWorkOptions {
  client: Client;
  projectId: string;
  breaks: Pick<Breaks, 'again'>;
}

/** What ends with domains, and comes back with them. */
export interface DomainUses extends Pick<Project, 'primary' | 'redirects'> {
  breaks: readonly RunningBreak[];
}

/** The uses of a project's domains, and all running breaks. */
export async function readUses({ client, projectId }: DomainWorkOptions): Promise<DomainUses> {
  const { primary, redirects } = await client.projects.get({ projectId });
  return { primary, redirects, breaks: await client.breaks.list({}) };
}

/** Keeps those breaks that have ended with domains. */
export const onlyEnded = (uses: DomainUses, ended: NonNullable<Domain['breaks']>): DomainUses => ({
  ...uses,
  breaks: uses.breaks.filter(({ id }) => ended.some((other) => other.id === id)),
});

/** Removes many domains, one after the other. `ended` gets the removed ones, and what ended with them. */
export function removing(
  options: DomainWorkOptions,
  hostnames: readonly string[],
  ended: (removed: readonly string[], uses: DomainUses) => void,
): WorkOptions {
  return {
    title: `Removing ${domains(hostnames.length)}`,
    total: hostnames.length,
    async run(work) {
      const removed: string[] = [];
      const repaired: NonNullable<Domain['breaks']> = [];
      const before = await readUses(options);
      try {
        for (const hostname of hostnames) {
          if (!work.going) break;
          const { breaks = [] } = await options.client.domains.remove({ hostname });
          repaired.push(...breaks);
          removed.push(hostname);
          work.advance(removed.length, `${formatCount(removed.length)} of ${domains(hostnames.length)} removed`);
        }
      } finally {
        if (removed.length > 0) ended(removed, onlyEnded(before, repaired));
      }
      return `${domains(removed.length)} removed.`;
    },
  };
}

/** Attaches removed domains again, and restores what ended with them. */
export function reattaching(options: DomainWorkOptions, hostnames: readonly string[], uses: DomainUses): WorkOptions {
  const { client, projectId } = options;
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
        await restoreUses(options, back, uses);
      }
      return `${domains(back.length)} attached again: ${formatCount(verified)} verified.`;
    },
  };
}

/** Restores the uses of domains that are attached again. Returns the breaks; some need a domain that is served. */
export async function restoreUses(
  { client, projectId, breaks }: DomainWorkOptions,
  hostnames: readonly string[],
  { primary, redirects, breaks: ended }: DomainUses,
): Promise<RunningBreak[]> {
  if (primary !== null && hostnames.includes(primary)) {
    await client.domains.setPrimary({ projectId, hostname: primary });
  }
  const lost = redirects.filter(({ from, to }) => hostnames.includes(from) || hostnames.includes(to));
  if (lost.length > 0) {
    const { redirects: kept } = await client.projects.get({ projectId });
    await client.domains.setRedirects({ projectId, redirects: [...kept, ...lost] });
  }
  const started: RunningBreak[] = [];
  for (const one of ended) {
    if (hostnames.includes(one.on.hostname ?? '')) started.push(...(await breaks.again([one]).catch(() => [])));
  }
  return started;
}

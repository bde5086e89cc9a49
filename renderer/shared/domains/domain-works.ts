import { ORPCError } from '@orpc/client';
import type { RunningBreak } from '../../../main/contract/breaks.ts';
import type { AttachedLocally, Domain } from '../../../main/contract/domains.ts';
import type { ImportReport } from '../../../main/contract/pets.ts';
import type { Project } from '../../../main/contract/projects.ts';
import { describeFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import { formatCount, formatCounted } from '../time/format.ts';
import type { Breaks } from '../session/breaks.svelte.ts';
import type { WorkOptions } from '../session/works.svelte.ts';

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

/** Why a line is not attached: in full, and as the report counts it, where that has a word of its own. */
export interface Refusal {
  message: string;
  counted?: string;
}

export const readRefusal = (error: ORPCError<string, unknown>): Refusal => ({
  message: describeFailure(error),
  ...(error.code === 'hostname_invalid' && { counted: 'not a hostname' }),
});

/** Undefined if the engine did what was asked. */
async function refusalOf(asked: Promise<unknown>): Promise<Refusal | undefined> {
  try {
    await asked;
    return undefined;
  } catch (error) {
    if (error instanceof ORPCError) return readRefusal(error);
    throw error;
  }
}

const REPEATED: Refusal = { message: 'It repeats an earlier line.', counted: 'repeated' };

/** The most hostnames that are attached at once. */
export const ATTACHED_MAX = 1_000;

/**
 * Attaches many hostnames, one after the other. The report has each one that is not attached, and why. `local`: also puts
 * their records into Vivarium's own DNS and verifies; they may be attached already. `refusal`: why the first was
 * refused, undefined if it was not; without the property, it has not been asked for.
 */
export function attaching({
  client,
  projectId,
  hostnames,
  local,
  ...first
}: Pick<DomainWorkOptions, 'client' | 'projectId'> & {
  hostnames: readonly string[];
  local: boolean;
  refusal?: Refusal | undefined;
}): WorkOptions {
  const isAsked = 'refusal' in first;
  const verb = local ? 'served' : 'attached';
  const attach = async (hostname: string): Promise<Refusal | undefined> => {
    let served: AttachedLocally | undefined;
    const refusal = await refusalOf(
      client.domains.attach({ projectId, hostname, local }).then((domain) => (served = domain)),
    );
    return refusal ?? served?.steps?.find(({ ok }) => !ok);
  };
  return {
    title: `${local ? 'Serving' : 'Attaching'} ${domains(hostnames.length)}`,
    total: hostnames.length,
    counted: ['domain', 'domains'],
    async run(work) {
      const rejected: ImportReport['rejected'] = [];
      const counts = new Map<string, number>();
      const count = (why = `not ${verb}`, by = 1) => void counts.set(why, (counts.get(why) ?? 0) + by);
      let asked = 0;
      try {
        for (const hostname of hostnames) {
          if (!work.going) break;
          const isRepeated = hostnames.indexOf(hostname) < asked;
          const refusal = asked === 0 && isAsked ? first.refusal : isRepeated ? REPEATED : await attach(hostname);
          asked++;
          if (refusal !== undefined) {
            rejected.push({ row: asked, message: refusal.message, text: hostname });
            count(refusal.counted);
          }
          work.advance(asked, `${formatCount(asked)} of ${domains(hostnames.length)} asked for`);
        }
      } finally {
        const created = asked - rejected.length;
        const rest = hostnames.slice(asked);
        if (rest.length > 0) count(undefined, rest.length);
        rejected.push(...rest.map((text, at) => ({ row: asked + at + 1, message: `Not ${verb} yet.`, text })));
        work.report = { created, rejected, rejectedTotal: rejected.length };
        work.title = `${local ? 'Served' : 'Attached'} ${formatCount(created)} of ${domains(hostnames.length)}`;
      }
      const others = [...counts].map(([why, times]) => `${formatCount(times)} ${why}`).join(', ');
      return `${domains(hostnames.length - rejected.length)} ${verb}${others && `; ${others}`}.`;
    },
  };
}

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

import { ORPCError } from '@orpc/client';
import type { AttachedLocally } from '../../../main/contract/domains.ts';
import type { ImportReport } from '../../../main/contract/pets.ts';
import { describeFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import { formatCount, formatCounted } from '../time/format.ts';
import type { WorkOptions } from '../session/works.svelte.ts';

export const domains = (count: number): string => formatCounted(count, 'domain', 'domains');

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
  ...(error.code === 'in_use' && { counted: 'already attached' }),
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
}: {
  client: Client;
  projectId: string;
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
    counted: ['domain', 'domains', verb],
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
        const share = rejected.length === 0 ? '' : `${formatCount(created)} of `;
        work.title = `${local ? 'Served' : 'Attached'} ${share}${domains(hostnames.length)}`;
      }
      const others = [...counts].map(([why, times]) => `${formatCount(times)} ${why}`).join(', ');
      return others && `${others}.`;
    },
  };
}

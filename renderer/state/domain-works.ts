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

import { ORPCError } from '@orpc/client';
import type { Certificate } from '../../../main/contract/certificates.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

/** The certificate of a domain; null while there is none. */
export const leafQuery = (source: Source, hostname: string): LiveQuery<Certificate | null> =>
  new LiveQuery(source, ['certificates.changed', 'domains.changed', 'clock.changed'], async (signal) => {
    try {
      return await source.client.certificates.get({ hostname }, { signal });
    } catch (error) {
      if (error instanceof ORPCError && error.code === 'not_found') return null;
      throw error;
    }
  });

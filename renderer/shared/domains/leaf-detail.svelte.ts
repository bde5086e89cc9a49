import { ORPCError } from '@orpc/client';
import type { Certificate } from '../../../main/contract/certificates.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { Task } from '../controls/task.svelte.ts';

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

/** The certificate of one domain. Created when it is selected, closed when it is not. */
export class LeafDetail {
  /** Null while there is none. */
  readonly leaf: LiveQuery<Certificate | null>;
  /** Issues a new one; a refusal contains the reason. */
  readonly renewal: Task<[], Certificate>;

  constructor(source: Source, hostname: string) {
    this.leaf = leafQuery(source, hostname);
    this.renewal = new Task(() => source.client.certificates.renew({ hostname }));
  }

  close(): void {
    this.leaf.close();
  }
}

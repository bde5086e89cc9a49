import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

/** Orders read to decide whether a link to them leads anywhere, the newest ones. */
const READ_MAX = 200;

/** The names in the ACME orders that `search` finds: at most those of the newest 200, and only of failed ones if asked. */
export const orderedNames = (source: Source, search: string, state?: 'invalid'): LiveQuery<ReadonlySet<string>> =>
  new LiveQuery(source, ['acme.changed'], async (signal) => {
    const orders = await source.client.acme.orders({ search, limit: READ_MAX, ...(state && { state }) }, { signal });
    return new Set(orders.flatMap(({ names }) => names));
  });

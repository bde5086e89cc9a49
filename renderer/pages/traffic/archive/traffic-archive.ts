import type { Client } from '../../../connection/transport.ts';

/** Entries per part: neither the engine nor the page is blocked for longer than a few milliseconds. */
export const PART_MAX = 250;

/** The HTTP archive of the matching entries, as pieces of JSON, read in parts: ten thousand entries are some 20 MB. */
export async function readArchive(
  client: Pick<Client, 'traffic'>,
  narrowed: { projectId?: string; filter?: string },
): Promise<string[]> {
  const pieces: string[] = [];
  let after: string | undefined;
  do {
    const { log, next } = await client.traffic.har({
      ...narrowed,
      limit: PART_MAX,
      ...(after !== undefined && { after }),
    });
    const { entries, ...head } = log;
    if (pieces.length === 0) pieces.push(`{"log":{${JSON.stringify(head).slice(1, -1)},"entries":[`);
    else if (entries.length > 0) pieces.push(',');
    pieces.push(JSON.stringify(entries).slice(1, -1));
    after = next;
  } while (after !== undefined);
  pieces.push(']}}');
  return pieces;
}

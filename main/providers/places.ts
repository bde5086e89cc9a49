import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import type { ProviderConnection } from './connections.ts';

/** What each connection has while it is open: its own listener, and a file with the root of its certificates. */
export function createPlaces<Place>(options: {
  /** Emptied at a start and at the end. */
  folder: string;
  make: (connection: ProviderConnection) => { place: Place; rootPem: string };
  /** Vivarium's own root, which is in the file too. */
  ownPem: () => string;
}) {
  const { folder } = options;
  const opened = new Map<string, { place: Place; caFile: string }>();
  const clear = (): void => rmSync(folder, { recursive: true, force: true });
  clear();
  return {
    open(connection: ProviderConnection): { caFile: string } {
      const { place, rootPem } = options.make(connection);
      const caFile = join(folder, `${connection.id}.pem`);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileAtomically(caFile, `${rootPem}${options.ownPem()}`, OWNER_ONLY);
      opened.set(connection.id, { place, caFile });
      return { caFile };
    },
    of: ({ id }: Pick<ProviderConnection, 'id'>): Place | null => opened.get(id)?.place ?? null,
    close({ id }: Pick<ProviderConnection, 'id'>): void {
      const found = opened.get(id);
      if (found !== undefined) rmSync(found.caFile, { force: true });
      opened.delete(id);
    },
    clear,
  };
}

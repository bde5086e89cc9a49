import type { WorldKind, WorldOwner } from '../../../main/contract/world.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

/** The files that own something, such as a `vivarium.yaml`. */
export const ownersQuery = (source: Source): LiveQuery<WorldOwner[]> =>
  // The engine announces a status after it has applied a file; removals elsewhere end an ownership, too.
  new LiveQuery(source, ['status.changed', 'projects.changed', 'domains.changed', 'zones.changed'], (signal) =>
    source.client.world.owners({}, { signal }),
  );

/** The name of the file that owns an entry, without its folder. */
export function ownerOf(owners: readonly WorldOwner[] | undefined, kind: WorldKind, what: string): string | undefined {
  const owner = owners?.find(({ entries }) => entries.some((entry) => entry.kind === kind && entry.what === what));
  return owner?.file.split(/[/\\]/).at(-1);
}

const TITLES = [
  ['project', 'Projects'],
  ['domain', 'Domains'],
  ['zone', 'Zones'],
  ['key', 'API keys'],
  ['setting', 'Settings'],
  ['clock', 'Clock'],
] as const satisfies readonly (readonly [WorldKind, string])[];

const NAMED_MAX = 6;

/**
 * What a file owns, in rows; pets, redirects and the like come with their project, records and signing with their zone.
 */
export function ownedRows({ entries }: WorldOwner): { title: string; names: string }[] {
  return TITLES.flatMap(([kind, title]) => {
    const names = entries.filter((entry) => entry.kind === kind).map(({ what }) => what);
    if (names.length === 0) return [];
    const rest = names.length - NAMED_MAX;
    const shown = kind === 'clock' ? 'frozen' : names.slice(0, NAMED_MAX).join(', ');
    return [{ title, names: rest > 0 ? `${shown} and ${rest} more` : shown }];
  });
}

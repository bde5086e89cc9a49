import type { ChangeScope, ChangeType } from '../base/events.ts';

/**
 * The services' view of the store: its rows and accessors. Times are milliseconds since the epoch, int64 values
 * bigints.
 */
export type { DeployRow, Deploys as DeployRows } from '../store/tables/projects.ts';
export type { Requests as RequestRows } from '../store/tables/projects.ts';
export type { Revocations as RevocationRows } from '../store/tables/domains.ts';
export type { KeyRow, Keys as KeyRows } from '../store/tables/keys.ts';
export type { Orders as OrderRows } from '../store/tables/orders.ts';
export type { NewPet as NewPetRow, Order as OrderRow, Pet as PetRow } from '../model/pet.ts';
export type { Pets as PetRows } from '../store/tables/pets.ts';
export type { Owned as OwnedRows, OwnedRow } from '../store/tables/owned.ts';
export type { ProjectRow, Projects as ProjectRows } from '../store/tables/projects.ts';
export type { ProviderItems as ProviderItemRows } from '../store/tables/provider-items.ts';
export type { Settings as SettingRows } from '../store/tables/settings.ts';
export type { Snapshots as SnapshotRows, StoredSnapshot as SnapshotRow } from '../store/copies/snapshots.ts';
export type { Records as RecordRows, VersionChanges, VersionRow } from '../store/tables/records.ts';
export type { StoredZone, ZoneRow, Zones as ZoneRows } from '../store/tables/zones.ts';

/** Notifies views of a change and applies it to the data plane. */
export interface Effects {
  emit(type: ChangeType, scope?: ChangeScope): void;
  /** Builds the snapshot from the store and publishes it; in force when it returns. */
  publish(): void;
}

import type { ChangeScope, ChangeType } from '../base/events.ts';

/** What the services need of the store: its rows and how to reach them. Times are milliseconds since the epoch, int64 values bigints. */
export type { DeployRow, Deploys as DeployRows } from '../store/deploys.ts';
export type { KeyRow, Keys as KeyRows } from '../store/keys.ts';
export type { OrderRow, Orders as OrderRows } from '../store/orders.ts';
export type { NewPetRow, PetRow } from '../store/pet-row.ts';
export type { Pets as PetRows } from '../store/pets.ts';
export type { ProjectRow, Projects as ProjectRows } from '../store/projects.ts';
export type { Settings as SettingRows } from '../store/settings.ts';
export type { Records as RecordRows, VersionChanges, VersionRow } from '../store/records.ts';
export type { StoredZone, ZoneRow, Zones as ZoneRows } from '../store/zones.ts';

/** Tells views what changed, and puts it into effect on the data plane. */
export interface Effects {
  emit(type: ChangeType, scope?: ChangeScope): void;
  /** Builds the snapshot of what is stored and hands it to the data plane; in force when it returns. */
  publish(): void;
}

import type { ClockSetting, EpochMs } from '../base/clock.ts';
import type { Dataset } from '../base/dataset.ts';
import type { ChangeScope, ChangeType } from '../base/events.ts';
import type { PlanLimits, Plan, Project, TargetSetting } from '../contract/projects.ts';
import type { PetStatus } from '../contract/values.ts';

/** What the services need of the store; times are milliseconds since the epoch, int64 values are bigints. */

export interface ProjectRow {
  id: string;
  name: string;
  slug: string;
  plan: Plan;
  /** Set with Enterprise only; the other plans' limits are the plan's. */
  limits: PlanLimits | null;
  target: TargetSetting;
  primary: string | null;
  redirects: Project['redirects'];
  createdAtMs: EpochMs;
}

export interface ProjectRows {
  list(): ProjectRow[];
  get(id: string): ProjectRow | null;
  getBySlug(slug: string): ProjectRow | null;
  insert(row: ProjectRow): void;
  update(id: string, patch: Partial<Omit<ProjectRow, 'id' | 'createdAtMs'>>): void;
  remove(id: string): ProjectRow | null;
  count(): number;
}

export interface KeyRow {
  id: string;
  projectId: string;
  name: string;
  prefix: string;
  hash: string;
  createdAtMs: EpochMs;
  revokedAtMs: EpochMs | null;
}

export interface KeyRows {
  list(projectId: string): KeyRow[];
  get(id: string): KeyRow | null;
  insert(row: KeyRow): void;
  revoke(id: string, atMs: EpochMs): void;
  count(): number;
}

export interface DeployRow {
  id: string;
  projectId: string;
  status: 'succeeded' | 'failed';
  reason: string | null;
  createdAtMs: EpochMs;
}

export interface DeployRows {
  list(projectId: string): DeployRow[];
  insert(row: DeployRow): void;
}

export interface PetRow {
  id: bigint;
  name: string;
  categoryId: bigint;
  status: PetStatus;
}

export type NewPetRow = Omit<PetRow, 'id'> & { id?: bigint };

export interface PetRows {
  search(
    dataset: Dataset,
    query: { status: PetStatus | null; search: string | null; limit: number; after: bigint | null },
  ): { items: PetRow[]; total: number; next: bigint | null };
  insert(dataset: Dataset, pet: NewPetRow): PetRow;
  update(dataset: Dataset, id: bigint, patch: Partial<Omit<PetRow, 'id'>>): PetRow;
  remove(dataset: Dataset, id: bigint): PetRow;
  /** One result per pet, in order: null when it was taken, or why not. */
  insertMany(dataset: Dataset, pets: Iterable<NewPetRow>): Promise<(string | null)[]>;
  total(): number;
}

export interface OrderRow {
  id: bigint;
  petId: bigint;
  quantity: number;
  status: 'placed';
  createdAtMs: EpochMs;
}

export interface OrderRows {
  list(dataset: Dataset): OrderRow[];
  insert(dataset: Dataset, order: { petId: bigint; quantity: number; createdAtMs: EpochMs }): OrderRow;
}

export interface ZoneRow {
  /** Lower case, A-labels, no trailing dot, as all names of zones and records here. */
  name: string;
  supportsAlias: boolean;
  createdAtMs: EpochMs;
}

export interface ZoneRows {
  list(): (ZoneRow & { records: number })[];
  get(name: string): (ZoneRow & { records: number }) | null;
  insert(row: ZoneRow): void;
  remove(name: string): (ZoneRow & { records: number }) | null;
  count(): number;
}

/** One version of a record; the current one, which the owner last wanted, has no end. */
export interface VersionRow {
  key: number;
  id: string;
  zone: string;
  name: string;
  type: string;
  ttlSeconds: number;
  /** As in a zone file, names absolute. */
  value: string;
  visibleAtMs: EpochMs;
  visibleFromMs: EpochMs | null;
  visibleUntilMs: EpochMs | null;
}

export interface VersionChanges {
  begun: readonly Omit<VersionRow, 'key'>[];
  moved: readonly Pick<VersionRow, 'key' | 'visibleAtMs' | 'visibleFromMs' | 'visibleUntilMs'>[];
  ended: readonly number[];
}

export interface RecordRows {
  list(zone: string): VersionRow[];
  get(id: string): VersionRow | null;
  typesAt(zone: string, name: string): Pick<VersionRow, 'type' | 'value'>[];
  rrset(zone: string, name: string, type: string): VersionRow[];
  /** All versions in a zone. */
  versions(zone: string): VersionRow[];
  apply(changes: VersionChanges): void;
  count(): { current: number; versions: number };
}

export interface SettingRows {
  get(): Record<string, unknown>;
  set(name: string, value: unknown): void;
}

export interface ClockRows {
  get(): ClockSetting | null;
  set(setting: ClockSetting): void;
}

/** Tells views what changed, and puts it into effect on the data plane. */
export interface Effects {
  emit(type: ChangeType, scope?: ChangeScope): void;
  /** Builds the snapshot of what is stored and hands it to the data plane; in force when it returns. */
  publish(): void;
}

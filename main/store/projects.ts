import type { EpochMs } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import type { PersonaId } from '../contract/personas.ts';
import type { Plan, PlanLimits, Project, TargetSetting } from '../contract/projects.ts';
import type { Connection } from './connection.ts';
import { codeOf } from '../base/error-code.ts';
import { noSuchProject, type Datasets } from './datasets.ts';

export interface ProjectRow {
  id: string;
  name: string;
  /** Unique among all projects. */
  slug: string;
  plan: Plan;
  /** Only with the plan Enterprise; the other plans have fixed limits. */
  limits: PlanLimits | null;
  target: TargetSetting;
  /** The hostname displayed in base addresses; null selects the platform's own. */
  primary: string | null;
  redirects: Project['redirects'];
  /** The persona that its custom domains follow. */
  persona: PersonaId;
  createdAtMs: EpochMs;
}

export type ProjectPatch = Partial<Omit<ProjectRow, 'id' | 'createdAtMs'>>;

export interface Projects {
  /** Newest first. */
  list(): ProjectRow[];
  get(id: string): ProjectRow | null;
  getBySlug(slug: string): ProjectRow | null;
  /** Also creates its two empty datasets. @throws VivariumError `conflict` when the id or the slug exists. */
  insert(row: ProjectRow): void;
  /** @throws VivariumError `not_found`; `conflict` when the new slug exists. */
  update(id: string, patch: ProjectPatch): ProjectRow;
  /** Removes it with its keys, deploys, pets, orders and rate counters; null when it does not exist. */
  remove(id: string): ProjectRow | null;
  count(): number;
}

interface Stored {
  id: string;
  name: string;
  slug: string;
  plan: Plan;
  limitPerMinute: number | null;
  limitPerDay: number | null;
  target: string;
  primary: string | null;
  redirects: string;
  persona: PersonaId;
  createdAtMs: number;
}

const COLUMNS = `id, name, slug, plan, limit_per_minute AS limitPerMinute, limit_per_day AS limitPerDay, target,
  primary_hostname AS "primary", redirects, persona, created_at_ms AS createdAtMs`;

/** Calls `onRemoved` after the commit, to purge the rows of its datasets. */
export function createProjects(connection: Connection, datasets: Datasets, onRemoved: () => void): Projects {
  const { sqlite, guarded, transactional } = connection;
  const all = sqlite.prepare<[], Stored>(`SELECT ${COLUMNS} FROM projects ORDER BY created_at_ms DESC, position DESC`);
  const byId = sqlite.prepare<[string], Stored>(`SELECT ${COLUMNS} FROM projects WHERE id = ?`);
  const bySlug = sqlite.prepare<[string], Stored>(`SELECT ${COLUMNS} FROM projects WHERE slug = ?`);
  const insert = sqlite.prepare<[Stored]>(
    `INSERT INTO projects (id, name, slug, plan, limit_per_minute, limit_per_day, target, primary_hostname, redirects,
       persona, created_at_ms)
     VALUES (:id, :name, :slug, :plan, :limitPerMinute, :limitPerDay, :target, :primary, :redirects,
       :persona, :createdAtMs)`,
  );
  const update = sqlite.prepare<[Stored]>(
    `UPDATE projects SET name = :name, slug = :slug, plan = :plan, limit_per_minute = :limitPerMinute,
       limit_per_day = :limitPerDay, target = :target, primary_hostname = :primary, redirects = :redirects, persona = :persona
     WHERE id = :id`,
  );
  const remove = sqlite.prepare<[string]>('DELETE FROM projects WHERE id = ?');
  const count = sqlite.prepare<[], number>('SELECT count(*) FROM projects').pluck();

  const get = (id: string): ProjectRow | null => rowOrNull(byId.get(id));

  const removeRow = transactional((id: string) => {
    const row = get(id);
    if (row !== null) remove.run(id);
    return row;
  });

  return {
    list: guarded(() => all.all().map(rowOf)),
    get: guarded(get),
    getBySlug: guarded((slug: string) => rowOrNull(bySlug.get(slug))),
    insert: transactional((row: ProjectRow) => {
      writeUnique(row, () => insert.run(storedOf(row)));
      datasets.create(row.id);
    }),
    update: transactional((id: string, patch: ProjectPatch) => {
      const row = get(id);
      if (row === null) throw noSuchProject(id);
      const changed: ProjectRow = { ...row, ...definedOf(patch), id, createdAtMs: row.createdAtMs };
      writeUnique(changed, () => update.run(storedOf(changed)));
      return changed;
    }),
    remove(id) {
      const row = removeRow(id);
      if (row === null) return null;
      datasets.removed(id);
      onRemoved();
      return row;
    },
    count: guarded(() => count.get() ?? 0),
  };
}

/** An undefined property is unchanged, like a missing one. */
function definedOf(patch: ProjectPatch): ProjectPatch {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

function writeUnique(row: ProjectRow, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
    const what =
      error instanceof Error && error.message.includes('projects.slug') ? `slug ${row.slug}` : `id ${row.id}`;
    throw new VivariumError('conflict', `A project with the ${what} already exists; choose another.`, {
      cause: error,
    });
  }
}

const rowOrNull = (stored: Stored | undefined): ProjectRow | null => (stored === undefined ? null : rowOf(stored));

function rowOf({ limitPerMinute, limitPerDay, target, redirects, ...rest }: Stored): ProjectRow {
  return {
    ...rest,
    limits: limitPerMinute === null || limitPerDay === null ? null : { perMinute: limitPerMinute, perDay: limitPerDay },
    target: JSON.parse(target) as TargetSetting,
    redirects: JSON.parse(redirects) as Project['redirects'],
  };
}

function storedOf({ limits, target, redirects, ...rest }: ProjectRow): Stored {
  return {
    ...rest,
    limitPerMinute: limits?.perMinute ?? null,
    limitPerDay: limits?.perDay ?? null,
    target: JSON.stringify(target),
    redirects: JSON.stringify(redirects),
  };
}

/** The `.http` texts of a project. */
export interface RequestTexts {
  saved: string;
  history: string;
}

export interface Requests {
  /** Empty texts for a project without any. */
  get(projectId: string): RequestTexts;
  /** Changes the given texts of an existing project. */
  put(projectId: string, texts: Partial<RequestTexts>): void;
}

const NONE: RequestTexts = { saved: '', history: '' };

export function createRequests({ sqlite, guarded }: Connection): Requests {
  const byProject = sqlite.prepare<[string], RequestTexts>('SELECT saved, history FROM requests WHERE project_id = ?');
  const upsert = sqlite.prepare<[RequestTexts & { projectId: string }]>(
    `INSERT INTO requests (project_id, saved, history) VALUES (:projectId, :saved, :history)
     ON CONFLICT (project_id) DO UPDATE SET saved = excluded.saved, history = excluded.history`,
  );
  const get = (projectId: string): RequestTexts => byProject.get(projectId) ?? NONE;
  return {
    get: guarded(get),
    put: guarded((projectId: string, texts: Partial<RequestTexts>) => {
      upsert.run({ projectId, ...get(projectId), ...texts });
    }),
  };
}

/** Deploys kept per project; a new one replaces the oldest. */
export const DEPLOYS_KEPT = 100;

export interface DeployRow {
  id: string;
  projectId: string;
  status: 'succeeded' | 'failed';
  reason: string | null;
  createdAtMs: EpochMs;
}

export interface Deploys {
  /** The last 100, newest first. */
  list(projectId: string): DeployRow[];
  /** @throws VivariumError `not_found` for an unknown project. */
  insert(row: DeployRow): void;
}

export function createDeploys({ sqlite, guarded, transactional }: Connection): Deploys {
  const byProject = sqlite.prepare<[string, number], DeployRow>(
    `SELECT id, project_id AS projectId, status, reason, created_at_ms AS createdAtMs
     FROM deploys WHERE project_id = ? ORDER BY position DESC LIMIT ?`,
  );
  const insert = sqlite.prepare<[DeployRow]>(
    `INSERT INTO deploys (id, project_id, status, reason, created_at_ms)
     VALUES (:id, :projectId, :status, :reason, :createdAtMs)`,
  );
  const removeOlder = sqlite.prepare<[string, string, number]>(
    `DELETE FROM deploys WHERE project_id = ? AND position <=
       (SELECT position FROM deploys WHERE project_id = ? ORDER BY position DESC LIMIT 1 OFFSET ?)`,
  );

  return {
    list: guarded((projectId: string) => byProject.all(projectId, DEPLOYS_KEPT)),
    insert: transactional((row: DeployRow) => {
      try {
        insert.run(row);
      } catch (error) {
        throw codeOf(error) === 'SQLITE_CONSTRAINT_FOREIGNKEY' ? noSuchProject(row.projectId) : error;
      }
      removeOlder.run(row.projectId, row.projectId, DEPLOYS_KEPT);
    }),
  };
}

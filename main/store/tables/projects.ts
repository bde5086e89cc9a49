import { z } from 'zod';
import { conflict } from '../../contract/errors.ts';
import {
  deploy,
  persona,
  plan,
  planLimits,
  project,
  projectSlug,
  redirect,
  target,
  type PlanLimits,
} from '../../contract/projects.ts';
import { factsOf } from '../../contract/plans.ts';
import { epochMs, identifier } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import { codeOf } from '../../base/error-code.ts';
import { noSuchProject, type Datasets } from './datasets.ts';
import { storedHostname } from './domains.ts';
import { count as counted, json, table, type RowOf } from './table.ts';

export const PROJECTS = table(
  'projects',
  ['slug'],
  {
    id: identifier,
    name: project.shape.name,
    /** Unique among all projects. */
    slug: projectSlug,
    plan,
    limitPerMinute: planLimits.shape.perMinute.nullable(),
    limitPerDay: planLimits.shape.perDay.nullable(),
    target: json(target),
    /** The hostname displayed in base addresses; null selects the platform's own. */
    primary: { schema: storedHostname.nullable(), name: 'primary_hostname' },
    redirects: json(z.array(redirect)),
    /** The persona that its custom domains follow. */
    persona,
    createdAtMs: epochMs,
  },
  { position: counted },
  ({ plan: paid, limitPerMinute, limitPerDay }) =>
    factsOf(paid).limits === null && (limitPerMinute === null || limitPerDay === null)
      ? `limit_per_minute and limit_per_day are required with the plan ${paid}.`
      : null,
);
type Stored = RowOf<typeof PROJECTS>;

export interface ProjectRow extends Omit<Stored, 'limitPerMinute' | 'limitPerDay'> {
  /** Only with a plan whose limits are agreed; the others have fixed ones. */
  limits: PlanLimits | null;
}

export type ProjectPatch = Partial<Omit<ProjectRow, 'id' | 'createdAtMs'>>;

export type Projects = ReturnType<typeof createProjects>;

const COLUMNS = PROJECTS.selected;

/** Calls `onRemoved` after the commit, to purge the rows of its datasets. */
export function createProjects(connection: Connection, datasets: Datasets, onRemoved: () => void) {
  const { sqlite, guarded, transactional } = connection;
  const all = sqlite.prepare<[], Stored>(`SELECT ${COLUMNS} FROM projects ORDER BY created_at_ms DESC, position DESC`);
  const byId = sqlite.prepare<[string], Stored>(`SELECT ${COLUMNS} FROM projects WHERE id = ?`);
  const bySlug = sqlite.prepare<[string], Stored>(`SELECT ${COLUMNS} FROM projects WHERE slug = ?`);
  const insert = sqlite.prepare<[object]>(`INSERT INTO projects ${PROJECTS.inserted}`);
  const update = sqlite.prepare<[object]>(
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
    /** Newest first. */
    list: guarded(() => all.all().map(rowOf)),
    get: guarded(get),
    getBySlug: guarded((slug: string) => rowOrNull(bySlug.get(slug))),
    /** Also creates its two empty datasets. @throws VivariumError `conflict` when the id or the slug exists. */
    insert: transactional((row: ProjectRow) => {
      writeUnique(row, () => insert.run(storedOf(row)));
      datasets.create(row.id);
    }),
    /** @throws VivariumError `not_found`; `conflict` when the new slug exists. */
    update: transactional((id: string, patch: ProjectPatch) => {
      const row = get(id);
      if (row === null) throw noSuchProject(id);
      const changed: ProjectRow = { ...row, ...definedOf(patch), id, createdAtMs: row.createdAtMs };
      writeUnique(changed, () => update.run(storedOf(changed)));
      return changed;
    }),
    /** Removes it with its keys, deploys, pets, orders and rate counters; null when it does not exist. */
    remove(id: string): ProjectRow | null {
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
    throw conflict(`A project with the ${what} already exists; choose another.`, {
      cause: error,
    });
  }
}

const rowOrNull = (stored: Stored | undefined): ProjectRow | null => (stored === undefined ? null : rowOf(stored));

function rowOf(stored: Stored): ProjectRow {
  const { limitPerMinute, limitPerDay, ...rest } = PROJECTS.read(stored);
  return {
    ...rest,
    limits: limitPerMinute === null || limitPerDay === null ? null : { perMinute: limitPerMinute, perDay: limitPerDay },
  };
}

const storedOf = ({ limits, ...rest }: ProjectRow): object =>
  PROJECTS.write({ ...rest, limitPerMinute: limits?.perMinute ?? null, limitPerDay: limits?.perDay ?? null });

export type Requests = ReturnType<typeof createRequests>;

export const REQUESTS = table('requests', ['project_id'], {
  projectId: identifier,
  saved: z.string(),
  history: z.string(),
});

/** The `.http` texts of a project. */
export type RequestTexts = Omit<RowOf<typeof REQUESTS>, 'projectId'>;

const NONE: RequestTexts = { saved: '', history: '' };

export function createRequests({ sqlite, guarded }: Connection) {
  const byProject = sqlite.prepare<[string], RequestTexts>('SELECT saved, history FROM requests WHERE project_id = ?');
  const upsert = sqlite.prepare<[RequestTexts & { projectId: string }]>(
    `INSERT INTO requests ${REQUESTS.inserted}
     ON CONFLICT (project_id) DO UPDATE SET saved = excluded.saved, history = excluded.history`,
  );
  const get = (projectId: string): RequestTexts => byProject.get(projectId) ?? NONE;
  return {
    /** Empty texts for a project without any. */
    get: guarded(get),
    /** Changes the given texts of an existing project. */
    put: guarded((projectId: string, texts: Partial<RequestTexts>) => {
      upsert.run({ projectId, ...get(projectId), ...texts });
    }),
  };
}

/** Deploys kept per project; a new one replaces the oldest. */
export const DEPLOYS_KEPT = 100;

export const DEPLOYS = table(
  'deploys',
  ['id'],
  {
    id: identifier,
    projectId: identifier,
    status: deploy.shape.status,
    reason: z.string().nullable(),
    createdAtMs: epochMs,
  },
  { position: counted },
);
export type DeployRow = RowOf<typeof DEPLOYS>;

export type Deploys = ReturnType<typeof createDeploys>;

export function createDeploys({ sqlite, guarded, transactional }: Connection) {
  const byProject = sqlite.prepare<[string, number], DeployRow>(
    `SELECT ${DEPLOYS.selected} FROM deploys WHERE project_id = ? ORDER BY position DESC LIMIT ?`,
  );
  const insert = sqlite.prepare<[DeployRow]>(`INSERT INTO deploys ${DEPLOYS.inserted}`);
  const removeOlder = sqlite.prepare<[string, string, number]>(
    `DELETE FROM deploys WHERE project_id = ? AND position <=
       (SELECT position FROM deploys WHERE project_id = ? ORDER BY position DESC LIMIT 1 OFFSET ?)`,
  );

  return {
    /** The last 100, newest first. */
    list: guarded((projectId: string) => byProject.all(projectId, DEPLOYS_KEPT)),
    /** @throws VivariumError `not_found` for an unknown project. */
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

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
import { noSuchProject, type Datasets } from './datasets.ts';
import { storedHostname } from './domains.ts';
import { count as counted, json, table, type RowOf, type Stored, writeOr } from './table.ts';

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
export interface ProjectRow extends Omit<RowOf<typeof PROJECTS>, 'limitPerMinute' | 'limitPerDay'> {
  /** Only with a plan whose limits are agreed; the others have fixed ones. */
  limits: PlanLimits | null;
}

export type ProjectPatch = Partial<Omit<ProjectRow, 'id' | 'createdAtMs'>>;

export type Projects = ReturnType<typeof createProjects>;

const COLUMNS = PROJECTS.selected;

/** Calls `onRemoved` after the commit, to purge the rows of its datasets. */
export function createProjects(connection: Connection, datasets: Datasets, onRemoved: () => void) {
  const { rows, row: one, count, run, transactional } = connection;
  const get = one<[id: string], ProjectRow>(`SELECT ${COLUMNS} FROM projects WHERE id = ?`, rowOf);
  const insert = run<[object]>(`INSERT INTO projects ${PROJECTS.inserted}`);
  const update = run<[object]>(
    `UPDATE projects SET name = :name, slug = :slug, plan = :plan, limit_per_minute = :limitPerMinute,
       limit_per_day = :limitPerDay, target = :target, primary_hostname = :primary, redirects = :redirects, persona = :persona
     WHERE id = :id`,
  );
  const removeRow = transactional(
    one<[id: string], ProjectRow>(`DELETE FROM projects WHERE id = ? RETURNING ${COLUMNS}`, rowOf),
  );

  return {
    /** Newest first. */
    list: rows<[], ProjectRow>(`SELECT ${COLUMNS} FROM projects ORDER BY created_at_ms DESC, position DESC`, rowOf),
    get,
    getBySlug: one<[slug: string], ProjectRow>(`SELECT ${COLUMNS} FROM projects WHERE slug = ?`, rowOf),
    /** Also creates its two empty datasets. @throws VivariumError `conflict` when the id or the slug exists. */
    insert: transactional((row: ProjectRow) => {
      writeUnique(row, () => insert(storedOf(row)));
      datasets.create(row.id);
    }),
    /** @throws VivariumError `not_found`; `conflict` when the new slug exists. */
    update: transactional((id: string, patch: ProjectPatch) => {
      const row = get(id);
      if (row === null) throw noSuchProject(id);
      const changed: ProjectRow = { ...row, ...definedOf(patch), id, createdAtMs: row.createdAtMs };
      writeUnique(changed, () => update(storedOf(changed)));
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
    count: count('SELECT count(*) FROM projects'),
  };
}

/** An undefined property is unchanged, like a missing one. */
const definedOf = (patch: ProjectPatch): ProjectPatch =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));

function writeUnique({ id, slug }: ProjectRow, write: () => void): void {
  const taken = (cause: Error) => {
    const what = cause.message.includes('projects.slug') ? `slug ${slug}` : `id ${id}`;
    return conflict(`A project with the ${what} already exists; choose another.`, { cause });
  };
  writeOr({ UNIQUE: taken }, write);
}

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

export function createRequests({ row, run }: Connection) {
  const byProject = row<[string], RequestTexts>('SELECT saved, history FROM requests WHERE project_id = ?');
  const upsert = run<[RequestTexts & { projectId: string }]>(`INSERT OR REPLACE INTO requests ${REQUESTS.inserted}`);
  const get = (projectId: string): RequestTexts => byProject(projectId) ?? NONE;
  return {
    /** Empty texts for a project without any. */
    get,
    /** Changes the given texts of an existing project. */
    put: (projectId: string, texts: Partial<RequestTexts>) => upsert({ projectId, ...get(projectId), ...texts }),
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

export function createDeploys({ rows, run, transactional }: Connection) {
  const insert = run<[DeployRow]>(`INSERT INTO deploys ${DEPLOYS.inserted}`);
  const removeOlder = run<[DeployRow]>(
    `DELETE FROM deploys WHERE project_id = :projectId AND position <=
       (SELECT position FROM deploys WHERE project_id = :projectId ORDER BY position DESC LIMIT 1 OFFSET ${DEPLOYS_KEPT})`,
  );
  return {
    /** The last 100, newest first. */
    list: rows<[projectId: string], DeployRow>(
      `SELECT ${DEPLOYS.selected} FROM deploys WHERE project_id = ? ORDER BY position DESC LIMIT ${DEPLOYS_KEPT}`,
    ),
    /** @throws VivariumError `not_found` for an unknown project. */
    insert: transactional((row: DeployRow) => {
      writeOr({ FOREIGNKEY: () => noSuchProject(row.projectId) }, () => insert(row));
      removeOlder(row);
    }),
  };
}

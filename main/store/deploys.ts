import type { EpochMs } from '../base/clock.ts';
import type { Connection } from './connection.ts';
import { noSuchProject } from './datasets.ts';
import { codeOf } from '../base/error-code.ts';

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

import type { Connection } from './connection.ts';

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

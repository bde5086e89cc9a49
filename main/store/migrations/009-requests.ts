/** The saved requests of projects and the last ones sent, as `.http` texts. */
export const REQUESTS_SCHEMA = `
CREATE TABLE requests (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  saved TEXT NOT NULL,
  history TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

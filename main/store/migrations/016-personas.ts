/** Whose custom domains a project's behave like, and since when an unverified hostname is checked by that rhythm. */
export const PERSONAS_SCHEMA = `
ALTER TABLE projects ADD COLUMN persona TEXT NOT NULL DEFAULT 'animal-store';
ALTER TABLE domains ADD COLUMN series_at_ms INTEGER;
`;

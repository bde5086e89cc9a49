/** How the answers of a zone are signed (DNSSEC), as JSON: its keys, and whether it is on; null until it first is. */
export const SIGNING_SCHEMA = `
ALTER TABLE zones ADD COLUMN signing TEXT;
`;

/** When each caller last sent a request, refused or not; null for requests before this migration. */
export const LAST_REQUESTS_SCHEMA = `
ALTER TABLE rate_counters ADD COLUMN last_request_at_ms INTEGER;
`;

/** When each caller last asked, refused or not; null where that was before it was written down. */
export const LAST_REQUESTS_SCHEMA = `
ALTER TABLE rate_counters ADD COLUMN last_request_at_ms INTEGER;
`;

/** The secret that signs updates of a zone over DNS (RFC 8945), in base64; null until it is asked for. */
export const UPDATE_KEYS_SCHEMA = `
ALTER TABLE zones ADD COLUMN update_secret TEXT;
`;

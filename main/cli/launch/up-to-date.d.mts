export function buildStamp(root: string): string;
/** A line for each source: its path, size and time. */
export function listSources(root: string): string;

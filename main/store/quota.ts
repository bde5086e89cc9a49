import type { Connection } from './connection.ts';

/** How far the database may grow; a limit ends with the process. */
export interface Quota {
  /** Lets it grow no more: what doesn't fit is refused as on a full disk. */
  limit(): void;
  lift(): void;
  isLimited(): boolean;
}

/** SQLite's own limit: it can't be less than the pages that there are (sqlite.org/pragma.html#pragma_max_page_count). */
const PAGES_MIN = 1;
const PAGES_MAX = 4_294_967_294;

export function createQuota({ sqlite, guarded }: Pick<Connection, 'sqlite' | 'guarded'>): Quota {
  let limited = false;
  const set = guarded((pages: number, wanted: boolean) => {
    sqlite.pragma(`max_page_count = ${pages}`);
    limited = wanted;
  });
  return {
    limit: () => set(PAGES_MIN, true),
    lift: () => set(PAGES_MAX, false),
    isLimited: () => limited,
  };
}

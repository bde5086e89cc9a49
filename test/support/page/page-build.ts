import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildStamp, listSources } from '../../../main/cli/launch/up-to-date.mjs';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** What the build of the interface reads, in a list of sources: its other lines may differ. */
const PAGE_SOURCES = /^.*\/(?:renderer|resources|main\/contract|vite\.renderer\.config\.ts|package-lock\.json)\b.*$/gm;

const pageSources = (list: string): string => (list.match(PAGE_SOURCES) ?? []).join('\n');

/** The folder of the built interface. @throws Error if its sources have changed since the build */
export function builtPage(): string {
  const stamp = buildStamp(ROOT);
  if (existsSync(stamp) && pageSources(readFileSync(stamp, 'utf8')) === pageSources(listSources(ROOT))) {
    return join(ROOT, 'out', 'renderer');
  }
  throw new Error('The interface is not built from these sources; run npm run build.');
}

import { orElse } from '../../contract/errors.ts';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type KeptExamination, keptExamination } from '../../contract/examine.ts';
import { EXAMINATIONS_FOLDER } from './data-folder.ts';
import { namesIn, OWNER_ONLY, writeFileAtomically } from './files.ts';

export const EXAMINATIONS_MAX = 5;
/** Requests of a run, and their bytes as JSON. */
export const REQUESTS_MAX = 1_000;
export const REQUESTS_BYTES_MAX = 4 * 1024 * 1024;
/** Tests of a row; those that survived are left out first. */
export const TESTS_MAX = 200;
const REPORT_BYTES_MAX = 32 * 1024 * 1024;
const REPORT = 'report.json';

/** The log of an HTTP archive (HAR 1.2). */
interface Log {
  entries: unknown[];
}

export type Examinations = ReturnType<typeof openExaminations>;

/** The last examinations of a data folder. Another process may write them meanwhile, so what is read may be anything. */
export function openExaminations(dataDir: string) {
  const folder = join(dataDir, EXAMINATIONS_FOLDER);
  const pathOf = (id: string, name: string): string => join(folder, id, name);

  /** Ids, newest first. */
  const ids = (): string[] => namesIn(folder).filter(isId).toSorted().toReversed();

  /** Null for one that is not kept, or whose report is damaged. @param id a valid one */
  function read(id: string): KeptExamination | null {
    const found = keptExamination.safeParse(
      orElse(() => JSON.parse(textAt(pathOf(id, REPORT), REPORT_BYTES_MAX)) as unknown, null),
    );
    return found.data?.id === id ? found.data : null;
  }

  return {
    read,
    list: (): KeptExamination[] =>
      ids()
        .slice(0, EXAMINATIONS_MAX)
        .flatMap((id) => read(id) ?? []),
    /** The archive of a run; null if none is kept. */
    requests: (id: string, run: number): string | null =>
      orElse(() => textAt(pathOf(id, `${run}.har`), 2 * REQUESTS_BYTES_MAX), null),
    /** Makes room for a new one. @throws an error of the file system */
    begin(id: string): void {
      mkdirSync(join(folder, id), { recursive: true, mode: 0o700 });
      for (const old of ids().slice(EXAMINATIONS_MAX)) rmSync(join(folder, old), { recursive: true, force: true });
    },
    /** @throws an error of the file system */
    write(report: KeptExamination): void {
      const rows = report.rows.map((row) => ({ ...row, tests: bounded(row.tests) }));
      writeFileAtomically(pathOf(report.id, REPORT), JSON.stringify({ ...report, rows }), OWNER_ONLY);
    },
    /** @throws an error of the file system */
    writeRequests(id: string, run: number, log: Log): void {
      const archive = { log: { ...log, entries: newestFitting(log.entries) } };
      writeFileAtomically(pathOf(id, `${run}.har`), JSON.stringify(archive), OWNER_ONLY);
    },
  };
}

const isId = (name: string): boolean => keptExamination.shape.id.safeParse(name).success;

/** @throws if there is no such file, or a larger one */
function textAt(path: string, bytesMax: number): string {
  if (statSync(path).size > bytesMax) throw new RangeError(`${path} is too large.`);
  return readFileSync(path, 'utf8');
}

const bounded = (tests: KeptExamination['rows'][number]['tests']) =>
  tests.length <= TESTS_MAX
    ? tests
    : tests.toSorted((a, b) => Number(a.verdict === 'survived') - Number(b.verdict === 'survived')).slice(0, TESTS_MAX);

/** As many entries as are kept, in their order: first those that a fault struck, then the newest. */
function newestFitting(entries: readonly unknown[]): unknown[] {
  const isStruck = (entry: unknown): boolean => typeof entry === 'object' && entry !== null && '_fault' in entry;
  const ranked = entries.toReversed().toSorted((a, b) => Number(isStruck(b)) - Number(isStruck(a)));
  const kept = new Set<unknown>();
  let bytes = 0;
  for (const entry of ranked.slice(0, REQUESTS_MAX)) {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > REQUESTS_BYTES_MAX) break;
    kept.add(entry);
  }
  return entries.filter((entry) => kept.has(entry));
}

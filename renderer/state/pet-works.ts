import type { ImportColumns, ImportDelimiter, ImportFormat, ImportReport } from '../../main/contract/pets.ts';
import type { Environment } from '../../main/contract/values.ts';
import type { Client } from '../connection/transport.ts';
import { formatBytes, formatCount, formatCounted } from '../time/format.ts';
import { PIECE_BYTES, textPieces, type Encoding } from './text-pieces.ts';
import type { Work, WorkOptions } from './works.svelte.ts';

/** Pets per call: about 50 ms of work for the engine, interleaved with other calls. */
const PART_PETS = 5_000;

/** Rejected rows listed in a report, as in the engine. */
const REJECTED_LISTED_MAX = 1_000;

/** Runs of ids that the engine removes in one call. */
const ID_RANGES_MAX = 1_000;

/** The dataset to change. */
export interface DatasetOfPets {
  client: Client;
  projectId: string;
  environment: Environment;
}

const pets = (count: number): string => formatCounted(count, 'pet', 'pets');

/** Adds sample pets, the same ones each time. */
export function seeding({ client, projectId, environment }: DatasetOfPets, count: number): WorkOptions {
  return {
    title: `Adding ${formatCounted(count, 'made-up pet', 'made-up pets')} to ${environment}`,
    total: count,
    async run(work) {
      let created = 0;
      while (work.going && work.done < count) {
        const part = Math.min(PART_PETS, count - work.done);
        created += (await client.pets.seed({ projectId, environment, count: part, skip: work.done })).created;
        work.advance(work.done + part, `${formatCount(created)} of ${pets(count)} added`);
      }
      return `${pets(created)} added to ${environment}.`;
    },
  };
}

/** Ids in runs, as an import reports them. */
type Ids = NonNullable<ImportReport['added']>;

/** Removes all pets, or the ones with `ids`. */
export function clearing({ client, projectId, environment }: DatasetOfPets, count: number, ids?: Ids): WorkOptions {
  return {
    title: ids === undefined ? `Removing all pets of ${environment}` : `Removing the imported pets of ${environment}`,
    total: count,
    async run(work) {
      let removed = 0;
      for (let left = count; work.going && left > 0;) {
        const part = await client.pets.clear({ projectId, environment, limit: PART_PETS, ...(ids && { ids }) });
        left = ids === undefined ? part.left : part.removed === PART_PETS ? count - removed - PART_PETS : 0;
        removed += part.removed;
        work.advance(removed, `${formatCount(removed)} of ${pets(removed + left)} removed`);
      }
      return `${pets(removed)} removed from ${environment}.`;
    },
  };
}

export interface ImportSource {
  file: Blob;
  /** The name of the source, for progress texts. */
  name: string;
  encoding?: Encoding;
  form: ImportForm;
}

/** How the engine reads a text; it finds what is left out. */
export interface ImportForm {
  format: ImportFormat;
  delimiter?: ImportDelimiter;
  columns?: ImportColumns;
}

/**
 * Adds pets from a file, piece by piece. Valid rows are added, the others listed in `work.report`. `onadded` gets the ids
 * of what was added, also by an import that was stopped or failed, unless they are too scattered.
 */
export function importing(
  dataset: DatasetOfPets,
  { file, name, encoding, form }: ImportSource,
  onadded: (ids: Ids, count: number) => void = () => undefined,
): WorkOptions {
  const { client, projectId, environment } = dataset;
  return {
    title: `Importing ${name} into ${environment}`,
    total: file.size,
    async run(work) {
      let importId: string | undefined;
      const send = async (text: string, more: boolean) => {
        const { importId: next, ...report } = await client.pets.import({
          projectId,
          environment,
          ...form,
          text,
          more,
          ...(importId !== undefined && { importId }),
        });
        importId = next;
        work.report = add(work.report, report);
      };
      try {
        for await (const { text, readTo } of textPieces(file, PIECE_BYTES, encoding)) {
          if (!work.going) return `Stopped: ${summary(work)}`;
          await send(text, true);
          work.advance(readTo, `${formatBytes(readTo)} of ${formatBytes(file.size)}; ${summary(work)}`);
        }
        await send('', false);
        return summary(work);
      } finally {
        const { added = [], created = 0 } = work.report ?? {};
        if (added.length > 0 && added.length <= ID_RANGES_MAX) onadded(added, created);
      }
    },
  };
}

/** `751,389 pets added, 2 rows refused`. */
function summary({ report }: Work): string {
  const refused = report?.rejectedTotal ?? 0;
  const added = `${pets(report?.created ?? 0)} added`;
  return refused === 0 ? added : `${added}, ${formatCounted(refused, 'row', 'rows')} refused`;
}

function add(before: ImportReport | undefined, part: ImportReport): ImportReport {
  if (before === undefined) return part;
  return {
    created: before.created + part.created,
    // Without the ids of one part, those of the whole are not known.
    ...(before.added !== undefined && part.added !== undefined && { added: [...before.added, ...part.added] }),
    rejected: [...before.rejected, ...part.rejected].slice(0, REJECTED_LISTED_MAX),
    rejectedTotal: before.rejectedTotal + part.rejectedTotal,
  };
}

/** The format of a file, by its name or its first characters. */
export function formatOf(name: string, beginning: string): ImportFormat {
  if (/\.json$/i.test(name)) return 'json';
  if (/\.(csv|txt)$/i.test(name)) return 'csv';
  return /^[\s\uFEFF]*[[{]/.test(beginning) ? 'json' : 'csv';
}

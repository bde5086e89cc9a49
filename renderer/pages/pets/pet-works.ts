import type { ImportFormat, ImportReport, PetRecord } from '../../../main/contract/pets.ts';
import type { Environment } from '../../../main/contract/values.ts';
import type { Client } from '../../connection/transport.ts';
import { formatBytes, formatCount, formatCounted } from '../../shared/time/format.ts';
import { listQuery, type PetFilter } from './pet-filter.ts';
import { createRowText, type ImportForm, type RowFormat } from './pet-text.ts';
import { PIECE_BYTES, textPieces, type Encoding } from '../../shared/display/text-pieces.ts';
import type { Work, WorkOptions } from '../../shared/session/works.svelte.ts';

/** Pets per call: about 50 ms of work for the engine, interleaved with other calls. */
const PART_PETS = 5_000;

/** Rejected rows listed in a report, as in the engine. */
const REJECTED_LISTED_MAX = 1_000;

/** Runs of ids that the engine removes in one call. */
const ID_RANGES_MAX = 1_000;

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
        const report = await client.pets.seed({ projectId, environment, count: part, skip: work.done });
        created += report.created;
        work.advance(work.done + part, `${formatCount(created)} of ${pets(count)} added`);
        const [refused] = report.rejected;
        if (refused !== undefined) return `${pets(created)} added to ${environment}. ${refused.message}`;
      }
      return `${pets(created)} added to ${environment}.`;
    },
  };
}

/** The ids of added pets, as ranges. */
export type AddedIds = NonNullable<ImportReport['added']>;

/** Removes all pets, or the ones with `ids`. */
export function clearing(
  { client, projectId, environment }: DatasetOfPets,
  count: number,
  ids?: AddedIds,
): WorkOptions {
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

/**
 * Adds pets from a file, piece by piece. Valid rows are added, the others listed in `work.report`. `onadded` gets the
 * ids of the added pets, also after an import that was stopped or failed, unless they are too scattered.
 */
export function importing(
  dataset: DatasetOfPets,
  { file, name, encoding, form }: ImportSource,
  onadded: (ids: AddedIds, count: number) => void = () => undefined,
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

/** The most pets in one file: about 100 MB, which the page has in memory. */
const EXPORTED_MAX = 1_000_000;

/** Pets that a call lists. */
const PAGE_PETS = 1_000;

/** Pages of pets: all of a dataset by id, which misses nothing while others add and remove pets; or those of a list. */
export async function* pagesOf(
  { client, projectId, environment }: DatasetOfPets,
  filter?: PetFilter,
): AsyncGenerator<PetRecord[], void, void> {
  if (filter === undefined) {
    for (let after: string | undefined; ;) {
      const from = after !== undefined && { after };
      const { items, next } = await client.pets.list({ projectId, environment, limit: PAGE_PETS, ...from });
      yield items;
      if (next === undefined) return;
      after = next;
    }
  }
  for (let offset = 0, whole = true; whole; offset += PAGE_PETS) {
    const { items } = await client.pets.list({ projectId, ...listQuery(filter), offset, limit: PAGE_PETS });
    yield items;
    whole = items.length === PAGE_PETS;
  }
}

/** Writes pets into a file, which `onfile` gets in parts when it is whole. */
export function exporting(
  { title, total, format }: { title: string; total: number; format: RowFormat },
  pages: AsyncIterable<readonly PetRecord[]>,
  onfile: (parts: readonly string[]) => void,
): WorkOptions {
  return {
    title,
    total,
    async run(work) {
      const text = createRowText(format);
      const parts: string[] = [];
      for await (const page of pages) {
        if (!work.going) return 'Stopped; no file was written.';
        parts.push(text.add(page.slice(0, EXPORTED_MAX - work.done)));
        const done = Math.min(EXPORTED_MAX, work.done + page.length);
        work.advance(done, `${formatCount(done)} of ${pets(Math.max(done, total))} written`);
        if (done === EXPORTED_MAX) break;
      }
      onfile([...parts, text.end()]);
      const left = work.done === EXPORTED_MAX && total > EXPORTED_MAX ? ', the most that a file takes' : '';
      return `${pets(work.done)} exported${left}.`;
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

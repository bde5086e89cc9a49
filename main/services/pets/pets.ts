import type { Clock, Timer } from '../../base/clock.ts';
import { type Dataset, heldValue, type IdRange } from '../../model/pet.ts';
import { conflict, notFound } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import {
  ALL_FIELDS,
  eachField,
  EDITABLE_FIELDS,
  type EditableField,
  FILTERED_FIELDS,
} from '../../contract/pet-fields.ts';
import type { PetRecord } from '../../contract/pets.ts';
import type { NewPetRow, PetRow, PetRows, ProjectRows } from '../dependencies.ts';
import {
  createReport,
  type ReportWriter,
  type ImportedRow,
  previewImport,
  createPetImport,
  type PetImport,
  type PetSeeds,
} from './pet-import.ts';
import { existingDataset } from '../projects/projects.ts';
import { restoredMeanwhile } from '../snapshots.ts';
import { createId } from '../../base/secret.ts';
import type { ImportForm } from './import-text.ts';

/**
 * Imports that wait for their next piece, each with a partial row in memory. Beyond this, the longest-waiting one is
 * dropped.
 */
export const OPEN_IMPORTS_MAX = 16;

/** How long the next piece may take, in real time. */
export const PIECE_MS_MAX = 60_000;

/** An import whose text arrives in pieces. */
interface OpenImport {
  id: string;
  dataset: Dataset;
  format: ImportForm['format'];
  text: PetImport;
  busy: boolean;
  idle: Timer | null;
}

/** A request with one piece of an import; the first piece decides how all of them are read. */
export interface Piece extends ImportForm {
  dataset: Dataset;
  /** The id of the import; undefined for the first piece. */
  importId: string | undefined;
  /** Whether more pieces will follow. */
  more: boolean;
}

export function createOpenImports(clock: Pick<Clock, 'realTimer'>) {
  const open = new Map<string, OpenImport>();

  function begin({ dataset, ...form }: Piece): OpenImport {
    const text = createPetImport(form);
    return { id: createId('imp'), dataset, format: form.format, text, busy: false, idle: null };
  }

  function find(importId: string, { dataset, format }: Piece): OpenImport {
    const found = open.get(importId);
    if (found === undefined) {
      throw notFound(
        `There is no import ${importId}: it has ended, or its next piece did not arrive within ${PIECE_MS_MAX / 1000} s. ` +
          'The pets imported so far stay.',
      );
    }
    if (found.busy) throw conflict('The previous piece is still being imported; wait for its answer.');
    const { projectId, environment } = found.dataset;
    if (projectId !== dataset.projectId || environment !== dataset.environment || format !== found.format) {
      throw conflict(
        `The import ${importId} was started as ${found.format} for ${environment} of project ${projectId}; ` +
          'all of its pieces must be the same.',
      );
    }
    return found;
  }

  function wait(waiting: OpenImport): void {
    waiting.idle = clock.realTimer(PIECE_MS_MAX, () => forget(waiting));
    open.delete(waiting.id);
    open.set(waiting.id, waiting);
    if (open.size <= OPEN_IMPORTS_MAX) return;
    const longest = open.values().find(({ busy }) => !busy);
    if (longest !== undefined) forget(longest);
  }

  function forget({ id, idle }: OpenImport): void {
    idle?.cancel();
    open.delete(id);
  }

  return {
    /**
     * Runs `work` on one piece. An error from `work` ends the import.
     * @returns the import's id when more pieces will follow.
     * @throws VivariumError `not_found` for an unknown import, `conflict` for one that is busy or belongs to another
     * project.
     */
    async take(piece: Piece, work: (text: PetImport) => Promise<void>): Promise<string | undefined> {
      const taking = piece.importId === undefined ? begin(piece) : find(piece.importId, piece);
      taking.idle?.cancel();
      taking.busy = true;
      try {
        await work(taking.text);
      } catch (error) {
        forget(taking);
        throw error;
      }
      taking.busy = false;
      if (!piece.more) forget(taking);
      else wait(taking);
      return piece.more ? taking.id : undefined;
    },
    /** Ends the imports that wait for their next piece. */
    clear() {
      for (const waiting of open.values()) forget(waiting);
    },
  };
}

export function createPetServices(options: {
  clock: Pick<Clock, 'realTimer'>;
  projects: ProjectRows;
  pets: PetRows;
  seeds: () => PetSeeds;
  /** Calls its listener when all pets were replaced by those of a snapshot. */
  onRestored: (listener: () => void) => void;
}): Services['pets'] {
  const { projects, pets } = options;
  const imports = createOpenImports(options.clock);
  let world = new AbortController();
  options.onRestored(() => {
    world.abort(restoredMeanwhile());
    world = new AbortController();
    imports.clear();
  });

  /** Aborts with the caller, and when a snapshot is restored, so the rest does not reach the new world. */
  const ending = (signal: AbortSignal | undefined): AbortSignal =>
    signal === undefined ? world.signal : AbortSignal.any([signal, world.signal]);

  const datasetOf = (input: Dataset): Dataset => existingDataset(projects, input);

  return {
    list(input) {
      const { status = null, search = null, sort, descending, limit } = input;
      const from =
        input.after === undefined
          ? {
              offset: input.offset ?? 0,
              anchor: input.anchor === undefined ? null : BigInt(input.anchor),
              before: input.before,
            }
          : { after: BigInt(input.after) };
      const where = {
        ...heldIn(input, FILTERED_FIELDS),
        ...(input.ids?.first !== undefined && { first: BigInt(input.ids.first) }),
        ...(input.ids?.last !== undefined && { last: BigInt(input.ids.last) }),
      };
      const query = { status, search, where, sort, descending, limit, from };
      const { items, total, offset, next } = pets.list(datasetOf(input), query);
      return {
        items: items.map(presentPet),
        total,
        ...(offset !== null && { offset }),
        ...(next !== null && { next: String(next) }),
      };
    },
    get(input) {
      const dataset = datasetOf(input);
      const row = pets.get(dataset, BigInt(input.id));
      if (row !== null) return presentPet(row);
      throw notFound(`There is no pet ${input.id} in ${dataset.environment} of this project.`);
    },
    create: (input) =>
      presentPet(
        pets.insert(datasetOf(input), {
          ...(input.id !== undefined && { id: BigInt(input.id) }),
          ...(heldIn(input, EDITABLE_FIELDS) as Omit<NewPetRow, 'id'>),
        }),
      ),
    update: (input) => presentPet(pets.update(datasetOf(input), BigInt(input.id), heldIn(input, EDITABLE_FIELDS))),
    remove: (input) => presentPet(pets.remove(datasetOf(input), BigInt(input.id))),
    getMany({ ids, ...input }) {
      const found = pets.getMany(datasetOf(input), ids.map(BigInt));
      return { pets: found.map(presentPet), missing: missingOf(ids, found) };
    },
    updateMany({ changes, ...input }) {
      const wanted = changes.map((change) => ({ ...heldIn(change, EDITABLE_FIELDS), id: BigInt(change.id) }));
      const before = pets.updateMany(datasetOf(input), wanted);
      const ids = changes.map(({ id }) => id);
      return { before: before.map(presentPet), missing: missingOf(ids, before) };
    },
    removeMany({ ids, ...input }) {
      const removed = pets.removeMany(datasetOf(input), ids.map(BigInt));
      return { removed: removed.map(presentPet), missing: missingOf(ids, removed) };
    },
    async clear(input, context) {
      const signal = ending(context.signal);
      const dataset = datasetOf(input);
      const limit = input.limit ?? Number.MAX_SAFE_INTEGER;
      let removed = 0;
      for (const ids of input.ids?.map(rangeOf) ?? [undefined]) {
        if (removed < limit) removed += await pets.clear(dataset, limit - removed, signal, ids);
      }
      return { removed, left: pets.count(dataset, null) };
    },
    async import(input, context) {
      const signal = ending(context.signal);
      const dataset = datasetOf(input);
      const { format, delimiter, columns, importId, more, text } = input;
      const report = createReport();
      const id = await imports.take({ dataset, format, delimiter, columns, importId, more }, async (reading) => {
        const take = (rows: readonly ImportedRow[]) => takeRows({ pets, dataset, report, signal }, rows);
        for await (const rows of reading.read(text)) await take(rows);
        if (!more) for await (const rows of reading.end()) await take(rows);
      });
      return { ...report.report(), ...(id !== undefined && { importId: id }) };
    },
    previewImport: (input) => previewImport(pets, datasetOf(input), input),
    async seed(input, context) {
      const signal = ending(context.signal);
      const dataset = datasetOf(input);
      const rows = options.seeds().generate(input.count, input.skip);
      const report = createReport();
      const results = await pets.insertMany(dataset, rows, signal);
      results.forEach((result, index) => report.add({ row: index + 1 }, result));
      return report.report();
    },
  };
}

interface Taking {
  pets: PetRows;
  dataset: Dataset;
  report: ReportWriter;
  signal: AbortSignal | undefined;
}

/** Inserts the valid rows of a batch and reports on all of them. */
async function takeRows({ pets, dataset, report, signal }: Taking, rows: readonly ImportedRow[]): Promise<void> {
  const good = rows.map((row) => row.pet).filter((pet): pet is NewPetRow => pet !== null);
  const results = (await pets.insertMany(dataset, good, signal)).values();
  for (const row of rows) report.add(row, row.pet === null ? row.message : (results.next().value ?? ''));
}

/** The given values among some fields. */
function heldIn<Field extends EditableField>(
  input: { [Each in Field]?: string | undefined },
  fields: readonly Field[],
): Partial<Pick<PetRow, Field>> {
  const given = fields.flatMap((field) => {
    const text = input[field];
    return text === undefined ? [] : [[field, heldValue(field, text)]];
  });
  return Object.fromEntries(given) as Partial<Pick<PetRow, Field>>;
}

function missingOf(ids: readonly string[], found: readonly PetRow[]): string[] {
  if (ids.length === found.length) return [];
  const known = new Set(found.map(({ id }) => String(id)));
  return ids.filter((id) => !known.has(id));
}

const rangeOf = ({ first, last }: { first: string | number; last: string | number }): IdRange => ({
  first: BigInt(first),
  last: BigInt(last),
});

const presentPet = (row: PetRow): PetRecord => eachField(ALL_FIELDS, (field) => String(row[field])) as PetRecord;

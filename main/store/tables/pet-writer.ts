import {
  type Dataset,
  foldName,
  noRoom,
  petWith,
  takenMessage,
  type NewPet,
  type Pet,
  valuesOf,
} from '../../model/pet.ts';
import { codeOf } from '../../base/error-code.ts';
import { nextTurn } from '../../base/turns.ts';
import { conflict, VivariumError } from '../../contract/errors.ts';
import { DATASET_PETS_MAX, EDITABLE_FIELDS, PET_FIELDS } from '../../contract/pet-fields.ts';
import type { Connection } from '../connection.ts';
import { type DatasetHandle, type Datasets, noSuchProject } from './datasets.ts';
import { INT64_MAX } from '../../contract/values.ts';

/**
 * Explicit ids up to 2^53 advance the sequence; larger ones do not. A single import with a huge id would otherwise push
 * later ids beyond what JavaScript clients read exactly, or leave none.
 */
const PUSHING_ID_MAX = 2n ** 53n;

const FIRST_GAP = `SELECT p.id + 1 FROM pets AS p WHERE p.dataset_id = ? AND p.id >= ? AND p.id < ? AND NOT EXISTS
    (SELECT 1 FROM pets AS q WHERE q.dataset_id = p.dataset_id AND q.id = p.id + 1)
  ORDER BY p.id LIMIT 1`;

/** Assigns ids per dataset: from 1, increasing, never reused after a removal. Lives for one transaction. */
function createPetSequence({ sqlite }: Connection) {
  const load = sqlite
    .prepare<[number], bigint>('SELECT last_pet_id FROM datasets WHERE id = ? AND project_id IS NOT NULL')
    .pluck()
    .safeIntegers();
  const save = sqlite.prepare<[bigint, number]>('UPDATE datasets SET last_pet_id = ? WHERE id = ?');
  const firstGap = sqlite.prepare<[number, bigint, bigint], bigint>(FIRST_GAP).pluck().safeIntegers();
  const sequences = new Map<number, { last: bigint; stored: bigint }>();

  function sequenceOf(handle: DatasetHandle): { last: bigint; stored: bigint } {
    let sequence = sequences.get(handle.id);
    if (sequence === undefined) {
      const stored = load.get(handle.id);
      if (stored === undefined) throw noSuchProject(handle.dataset.projectId);
      sequence = { last: stored, stored };
      sequences.set(handle.id, sequence);
    }
    return sequence;
  }

  /** Ids above the sequence are taken only when explicit ones lie beyond 2^53. */
  function freeAfter(handle: DatasetHandle, taken: bigint): bigint {
    const free = firstGap.get(handle.id, taken, INT64_MAX);
    if (free === undefined) throw exhausted(handle);
    return free;
  }

  return {
    /** The id to try first. @throws VivariumError `conflict` when none is left. */
    next(handle: DatasetHandle): bigint {
      const { last } = sequenceOf(handle);
      if (last >= INT64_MAX) throw exhausted(handle);
      return last + 1n;
    },
    /** The first free id above `taken`. @throws VivariumError `conflict` when none is left. */
    freeAfter,
    assigned(handle: DatasetHandle, id: bigint): void {
      sequenceOf(handle).last = id;
    },
    /** Records a pet's explicit id. */
    pushed(handle: DatasetHandle, id: bigint): void {
      const sequence = sequenceOf(handle);
      if (id <= PUSHING_ID_MAX && id > sequence.last) sequence.last = id;
    },
    /** The current position, to restore with `assigned` after a rollback. */
    last: (handle: DatasetHandle): bigint => sequenceOf(handle).last,
    /** Resets at the beginning of a transaction. */
    begin: (): void => sequences.clear(),
    /** Persists changes at the end of the transaction. */
    store(): void {
      for (const [id, { last, stored }] of sequences) if (last !== stored) save.run(last, id);
    },
  };
}

function exhausted({ dataset }: DatasetHandle): VivariumError {
  return conflict(
    `No id is left to assign in ${dataset.environment} of project ${dataset.projectId}: ids only increase, and the last ` +
      `one was ${INT64_MAX}, the highest. Give the pet an id of its own, or use another project.`,
  );
}

/** Pets per statement of a bulk insert. Twenty halve the cost, which is mostly fixed; more gain little. */
export const CHUNK_PETS = 20;

type Parameter = number | bigint | string;

/** Inserts new pets. Both ways of inserting must run inside `write`. */
export type PetWriter = ReturnType<typeof createPetWriter>;

export function createPetWriter(connection: Connection) {
  const { sqlite, count, transactional } = connection;
  const sequence = createPetSequence(connection);
  const columns = ['dataset_id', 'id', ...EDITABLE_FIELDS.map((field) => PET_FIELDS[field].column), 'folded_name'];
  const into = `INSERT INTO pets (${columns.join(', ')}) VALUES `;
  const values = `(${columns.map(() => '?').join(', ')})`;
  const insertFree = sqlite.prepare<Parameter[]>(`${into}${values} ON CONFLICT (dataset_id, id) DO NOTHING`);
  const countIn = count<[number]>('SELECT coalesce(sum(pets), 0) FROM pet_counts WHERE dataset_id = ?');
  const roomIn = (handle: DatasetHandle): number => DATASET_PETS_MAX - countIn(handle.id);
  const insertChunkOfAll = sqlite.prepare<Parameter[]>(into + Array<string>(CHUNK_PETS).fill(values).join(', '));

  /** Returns whether the id was free and the pet was inserted. */
  const place = (handle: DatasetHandle, id: bigint, pet: NewPet): boolean =>
    insertFree.run(handle.id, id, ...valuesOf(pet), foldName(pet.name)).changes === 1;

  function assign(handle: DatasetHandle, pet: NewPet): bigint {
    let id = sequence.next(handle);
    if (!place(handle, id, pet)) {
      id = sequence.freeAfter(handle, id);
      place(handle, id, pet);
    }
    sequence.assigned(handle, id);
    return id;
  }

  function insert(handle: DatasetHandle, pet: NewPet): Pet {
    if (roomIn(handle) <= 0) throw noRoom(handle.dataset);
    if (pet.id === undefined) return petWith(assign(handle, pet), valuesOf(pet));
    const id = pet.id;
    sequence.last(handle);
    if (!place(handle, id, pet)) throw conflict(takenMessage(id, handle.dataset));
    sequence.pushed(handle, id);
    return petWith(id, valuesOf(pet));
  }

  /** One statement for all of them, which fails as a whole, with null, when one cannot be inserted. */
  function insertTogether(handle: DatasetHandle, pets: readonly NewPet[]): bigint[] | null {
    const before = sequence.last(handle);
    const parameters: Parameter[] = [];
    const ids: bigint[] = [];
    try {
      for (const pet of pets) {
        const id = pet.id ?? sequence.next(handle);
        if (pet.id === undefined) sequence.assigned(handle, id);
        else sequence.pushed(handle, id);
        ids.push(id);
        parameters.push(handle.id, id, ...valuesOf(pet), foldName(pet.name));
      }
      insertChunkOfAll.run(...parameters);
      return ids;
    } catch (error) {
      if (!isOfOnePet(error)) throw error;
      sequence.assigned(handle, before);
      return null;
    }
  }

  function insertOne(handle: DatasetHandle, pet: NewPet): bigint | string {
    try {
      return insert(handle, pet).id;
    } catch (error) {
      if (!isOfOnePet(error)) throw error;
      return error instanceof VivariumError ? error.message : `The pet is not acceptable: ${error.message}.`;
    }
  }

  return {
    /** One transaction, durable when this returns. */
    write: <Result>(work: () => Result): Result =>
      transactional(() => {
        sequence.begin();
        const result = work();
        sequence.store();
        return result;
      })(),
    /** @throws VivariumError `conflict` when the id exists or none is left; `unavailable` without room; `not_found`. */
    insert,
    /** At most `CHUNK_PETS`; returns, for each in order, its id or the reason for its rejection. */
    insertChunk(handle: DatasetHandle, pets: readonly NewPet[]): (bigint | string)[] {
      sequence.last(handle);
      const together = pets.length === CHUNK_PETS && roomIn(handle) >= CHUNK_PETS ? insertTogether(handle, pets) : null;
      return together ?? pets.map((pet) => insertOne(handle, pet));
    },
  };
}

/** An error about a single pet, after which the transaction can continue. */
const isOfOnePet = (error: unknown): error is Error =>
  error instanceof VivariumError || codeOf(error)?.startsWith('SQLITE_CONSTRAINT') === true;

/** Pets per transaction, some 5 ms, to let other work run. */
const BATCH_PETS = 25 * CHUNK_PETS;

interface Insertion {
  writer: PetWriter;
  datasets: Datasets;
  dataset: Dataset;
  pets: Iterable<NewPet>;
  /** Ends the import between two transactions. */
  signal: AbortSignal | undefined;
}

/**
 * Inserts any number of pets in transactions of bounded size, with other work in between. @returns for each pet, in
 * order, its id or the reason for its rejection. @throws (rejects) VivariumError when the import cannot continue
 * (`unavailable`, `not_found`), or the abort reason of `signal`; committed pets stay.
 */
export async function insertMany(insertion: Insertion): Promise<(bigint | string)[]> {
  const { writer, datasets, dataset, pets, signal } = insertion;
  const results: (bigint | string)[] = [];
  let stored = 0;
  for (const batch of batchesOf(pets, BATCH_PETS)) {
    if (results.length > 0) await nextTurn();
    signal?.throwIfAborted();
    try {
      const handle = datasets.resolve(dataset);
      const outcomes = writer.write(() =>
        batchesOf(batch, CHUNK_PETS)
          .flatMap((chunk) => writer.insertChunk(handle, chunk))
          .toArray(),
      );
      const inserted = outcomes.filter((outcome) => typeof outcome === 'bigint').length;
      stored += inserted;
      if (inserted > 0) datasets.changed(dataset);
      for (const outcome of outcomes) results.push(outcome);
    } catch (error) {
      if (stored === 0 || !(error instanceof VivariumError)) throw error;
      throw new VivariumError(error.code, `${error.message} ${stored} pets had been stored before.`, { cause: error });
    }
  }
  return results;
}

function* batchesOf<Item>(items: Iterable<Item>, size: number): Generator<Item[], undefined> {
  let batch: Item[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

import { VivariumError } from '../../contract/errors.ts';
import { INT64_MAX } from '../../contract/values.ts';
import type { Connection } from '../connection.ts';
import { noSuchProject, type DatasetHandle } from './datasets.ts';

/**
 * Explicit ids up to 2^53 advance the sequence; larger ones do not. A single import with a huge id would otherwise push
 * later ids beyond what JavaScript clients read exactly, or leave none.
 */
const PUSHING_ID_MAX = 2n ** 53n;

/** Assigns ids per dataset: from 1, increasing, never reused after a removal. Lives for one transaction. */
export function createPetSequence({ sqlite }: Connection) {
  const load = sqlite
    .prepare<[number], bigint>('SELECT last_pet_id FROM datasets WHERE id = ? AND project_id IS NOT NULL')
    .pluck()
    .safeIntegers();
  const save = sqlite.prepare<[bigint, number]>('UPDATE datasets SET last_pet_id = ? WHERE id = ?');
  const firstGap = sqlite
    .prepare<[number, bigint, bigint], bigint>(
      `SELECT p.id + 1 FROM pets AS p WHERE p.dataset_id = ? AND p.id >= ? AND p.id < ? AND NOT EXISTS
         (SELECT 1 FROM pets AS q WHERE q.dataset_id = p.dataset_id AND q.id = p.id + 1)
       ORDER BY p.id LIMIT 1`,
    )
    .pluck()
    .safeIntegers();
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
  return new VivariumError(
    'conflict',
    `No id is left to assign in ${dataset.environment} of project ${dataset.projectId}: ids only increase, and the last ` +
      `one was ${INT64_MAX}, the highest. Give the pet an id of its own, or use another project.`,
  );
}

import type { Clock, Timer } from '../../base/clock.ts';
import type { Dataset } from '../../model/pet.ts';
import { createId } from '../../base/secret.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { ImportForm } from './import-text.ts';
import { createPetImport, type PetImport } from './pet-import.ts';

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

export interface OpenImports {
  /**
   * Runs `work` on one piece. An error from `work` ends the import.
   * @returns the import's id when more pieces will follow.
   * @throws VivariumError `not_found` for an unknown import, `conflict` for one that is busy or belongs to another
   * project.
   */
  take(piece: Piece, work: (text: PetImport) => Promise<void>): Promise<string | undefined>;
  /** Ends the imports that wait for their next piece. */
  clear(): void;
}

export function createOpenImports(clock: Pick<Clock, 'realTimer'>): OpenImports {
  const open = new Map<string, OpenImport>();

  function begin({ dataset, ...form }: Piece): OpenImport {
    const text = createPetImport(form);
    return { id: createId('imp'), dataset, format: form.format, text, busy: false, idle: null };
  }

  function find(importId: string, { dataset, format }: Piece): OpenImport {
    const found = open.get(importId);
    if (found === undefined) {
      throw new VivariumError(
        'not_found',
        `There is no import ${importId}: it has ended, or its next piece did not arrive within ${PIECE_MS_MAX / 1000} s. ` +
          'The pets imported so far stay.',
      );
    }
    if (found.busy)
      throw new VivariumError('conflict', 'The previous piece is still being imported; wait for its answer.');
    const { projectId, environment } = found.dataset;
    if (projectId !== dataset.projectId || environment !== dataset.environment || format !== found.format) {
      throw new VivariumError(
        'conflict',
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
    async take(piece, work) {
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
    clear() {
      for (const waiting of open.values()) forget(waiting);
    },
  };
}

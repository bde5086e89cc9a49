import { z } from 'zod';
import { petStatus } from '../../contract/values.ts';
import type { NewPetRow } from '../dependencies.ts';

const words = z.object({
  names: z.array(z.string()).min(1),
  kinds: z.array(z.object({ categoryId: z.int(), breeds: z.array(z.string()).min(1) })).min(1),
  statuses: z.array(petStatus).min(1),
});

/** Generated pets: the same ones each time, to make demos and bug reports reproducible. */
export interface PetSeeds {
  /** Generates `count` pets after skipping `skip`. */
  generate(count: number, skip?: number): Iterable<NewPetRow>;
}

const SEED = 2_026;

/** Random numbers consumed per pet. */
const DRAWS = 4;

/** @param json the text of `resources/demo/seed.json` */
export function createPetSeeds(json: string): PetSeeds {
  const { names, kinds, statuses } = words.parse(JSON.parse(json));
  return {
    *generate(count, skip = 0) {
      const random = createRandom(SEED, skip * DRAWS);
      for (let made = 0; made < count; made++) {
        const kind = pick(kinds, random);
        yield {
          name: `${pick(names, random)} the ${pick(kind.breeds, random)}`,
          categoryId: BigInt(kind.categoryId),
          status: pick(statuses, random),
        };
      }
    },
  };
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** Mulberry32: small, fast, and good enough for choosing names; can skip any distance. Values in [0, 1). */
function createRandom(seed: number, skip: number): () => number {
  let state = (seed + Math.imul(skip, STEP)) >>> 0;
  return () => {
    state = (state + STEP) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const STEP = 0x6d2b79f5;

import { LIMITS } from './list/limits.ts';
import type { Mutant } from './mutant.ts';

/** Every mutant, part by part. */
export const MUTANTS: readonly Mutant[] = [...LIMITS];

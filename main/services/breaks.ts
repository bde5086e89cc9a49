import { randomInt } from 'node:crypto';
import { CATALOGUE, pointOf } from '../breaks/catalogue/index.ts';
import type { Breaks } from '../breaks/breaks.ts';
import { parseDuration } from '../contract/duration.ts';
import type { Services } from '../contract/index.ts';

const SEEDS = 2 ** 32;

export const createBreakServices = (breaks: Breaks): Services['breaks'] => ({
  catalogue: () => CATALOGUE.map((entry) => ({ ...entry, at: pointOf(entry) })),
  list: breaks.list,
  start: ({ for: length, seed = randomInt(SEEDS), ...rule }) =>
    breaks.start({ ...rule, seed, forMs: parseDuration(length) }),
  stop: ({ id }) => breaks.stop(id),
  stopAll: breaks.stopAll,
});

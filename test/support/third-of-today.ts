const DAY_MS = 86_400_000;

/** Days since 1970; `TEST_DAY` repeats those of another day. */
const day = Number(process.env.TEST_DAY ?? Math.floor(Date.now() / DAY_MS));

/**
 * A third of the points that a test would try, another one every day and for the next `turn`: within three days it has
 * tried all.
 */
export const thirdOfToday = <Point>(points: readonly Point[], turn = 0): Point[] =>
  points.filter((_point, index) => (index + turn + day) % 3 === 0);

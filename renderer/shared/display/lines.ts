/** Values over equal steps; gaps are null. */
export interface Line {
  values: readonly (number | null)[];
  /** Fills the area below the line. */
  filled?: boolean;
}

const WIDTH = 1_000;
const HEIGHT = 100;
/** Headroom above the highest value, so the stroke is not clipped. */
const HEADROOM = 2;
const POINTS_MAX = 30;

/**
 * Lines in a `width` × `height` box, stretched to its container. The full height is `top`: the largest value of all
 * lines, and at least `topMin`, rounded up to a number whose half is as short.
 */
export function linesOf(rows: readonly Line[], topMin: number) {
  const top = roundUp(
    rows.reduce((most, { values }) => values.reduce<number>((max, v) => Math.max(max, v ?? 0), most), topMin),
  );
  const y = (value: number): number => HEIGHT - (value / top) * (HEIGHT - HEADROOM);
  return { width: WIDTH, height: HEIGHT, top, lines: rows.map((row) => pathsOf(row, y)) };
}

/** 1, 2, 4, 6, 8, 10, 20, 40, … */
function roundUp(value: number): number {
  if (value <= 1) return 1;
  const decade = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8].find((each) => each * decade >= value) ?? 10;
  return step * decade;
}

/**
 * The `d` attributes of a line's SVG paths; empty when there is nothing to draw. `points`: a dot per value, in short
 * series only: a line would not show a value between two gaps.
 */
function pathsOf({ values, filled = false }: Line, y: (value: number) => number) {
  const step = WIDTH / Math.max(1, values.length - 1);
  const isNothing = (index: number): boolean => (values[index] ?? 0) === 0;
  const dots = values.map((value, index): [number, number] | null =>
    // Zeros between zeros would only cover the other lines along the axis.
    value === null || [index - 1, index, index + 1].every(isNothing) ? null : [index * step, y(value)],
  );
  const runs = runsOf(dots);
  const points = runs.flat();
  return {
    line: runs.map((run) => (run.length === 1 ? `${along(run)}Z` : along(run))).join(''),
    area: filled ? runs.map((run) => `${along(run)}L${downFrom(run.at(-1))}L${downFrom(run[0])}Z`).join('') : '',
    points: points.length < POINTS_MAX ? points.map(([x, at]) => `M${x.toFixed(1)},${at.toFixed(1)}h0`).join('') : '',
  };
}

type Dot = readonly [x: number, y: number];

/** The dots between gaps. */
function runsOf(dots: readonly (Dot | null)[]): Dot[][] {
  const runs: Dot[][] = [[]];
  for (const dot of dots) {
    if (dot === null) runs.push([]);
    else runs.at(-1)?.push(dot);
  }
  return runs.filter((run) => run.length > 0);
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

const along = (run: readonly Dot[]): string => `M${run.map(([x, y]) => `${rounded(x)},${rounded(y)}`).join('L')}`;

/** The point on the axis below a dot. */
const downFrom = (dot: Dot | undefined): string => `${rounded(dot?.[0] ?? 0)},${HEIGHT}`;

import { area, line } from 'd3-shape';

/** Values over equal steps; the gaps of a line are null. */
export interface Line {
  values: readonly (number | null)[];
  /** Whether what is below the line is filled. */
  filled?: boolean;
}

/** What draws a line: the `d` of SVG paths, empty where there is nothing to draw. */
interface LinePaths {
  line: string;
  area: string;
  /** A mark for each value, where there are too few for lines: one between two gaps would not be seen. */
  points: string;
}

const WIDTH = 1_000;
const HEIGHT = 100;
/** Above the highest value, so that its stroke is not cut off. */
const HEADROOM = 2;
const POINTS_MAX = 30;

/**
 * Lines in a box of `width` × `height`, which is stretched over whatever room there is; its full height stands for the
 * largest value of all lines, and for `topMin` at least.
 */
export function linesOf(
  rows: readonly Line[],
  topMin: number,
): { width: number; height: number; lines: readonly LinePaths[] } {
  const top = rows.reduce((most, { values }) => values.reduce<number>((max, v) => Math.max(max, v ?? 0), most), topMin);
  const y = (value: number): number => HEIGHT - (value / top) * (HEIGHT - HEADROOM);
  return { width: WIDTH, height: HEIGHT, lines: rows.map((row) => pathsOf(row, y)) };
}

function pathsOf({ values, filled = false }: Line, y: (value: number) => number): LinePaths {
  // On the axis all along, it would only cover the others.
  if (values.every((value) => value === null || value === 0)) return { line: '', area: '', points: '' };
  const step = WIDTH / Math.max(1, values.length - 1);
  const dots = values.map((value, index): [number, number] | null =>
    value === null ? null : [index * step, y(value)],
  );
  const present = dots.filter((dot) => dot !== null);
  const isThere = (dot: [number, number] | null): boolean => dot !== null;
  const across = (dot: [number, number] | null): number => dot?.[0] ?? 0;
  const up = (dot: [number, number] | null): number => dot?.[1] ?? HEIGHT;
  return {
    line: line<[number, number] | null>().defined(isThere).x(across).y(up).digits(1)(dots) ?? '',
    area: filled
      ? (area<[number, number] | null>().defined(isThere).x(across).y0(HEIGHT).y1(up).digits(1)(dots) ?? '')
      : '',
    points: present.length < POINTS_MAX ? present.map(([x, at]) => `M${x.toFixed(1)},${at.toFixed(1)}h0`).join('') : '',
  };
}

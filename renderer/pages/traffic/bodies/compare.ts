import type { HeaderField } from '../../../../main/contract/api.ts';
import type { TrafficDetail } from '../../../../main/contract/traffic.ts';
import { prettyJson } from '../../../shared/traffic/json-text.ts';
import { formatMilliseconds } from '../../../shared/time/format.ts';
import { protocolOf } from '../entry/entry-look.ts';

/** A line of two texts side by side; undefined where one has none. */
export interface ComparedLine {
  left: string | undefined;
  right: string | undefined;
}

export const differs = ({ left, right }: ComparedLine): boolean => left !== right;

/** Limit on the table of a comparison, in cells; longer texts are compared line by line. */
const CELLS_MAX = 1_000_000;

/** Two texts with equal lines beside each other, by their longest common subsequence. */
export function compareLines(left: readonly string[], right: readonly string[]): ComparedLine[] {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  ) {
    end += 1;
  }
  const both = (line: string): ComparedLine => ({ left: line, right: line });
  return [
    ...left.slice(0, start).map(both),
    ...compareMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...left.slice(left.length - end).map(both),
  ];
}

function compareMiddle(left: readonly string[], right: readonly string[]): ComparedLine[] {
  if (left.length * right.length > CELLS_MAX) return pair(left, right);
  const width = right.length + 1;
  /** The length of the longest common subsequence from line `l` and line `r` on. */
  const common = new Uint32Array((left.length + 1) * width);
  const at = (l: number, r: number): number => common[l * width + r] ?? 0;
  for (let l = left.length - 1; l >= 0; l--) {
    for (let r = right.length - 1; r >= 0; r--) {
      common[l * width + r] = left[l] === right[r] ? at(l + 1, r + 1) + 1 : Math.max(at(l + 1, r), at(l, r + 1));
    }
  }
  const lines: ComparedLine[] = [];
  let [l, r, fromL, fromR] = [0, 0, 0, 0];
  while (l < left.length && r < right.length) {
    if (left[l] === right[r]) {
      lines.push(...pair(left.slice(fromL, l), right.slice(fromR, r)), { left: left[l], right: right[r] });
      [l, r] = [l + 1, r + 1];
      [fromL, fromR] = [l, r];
    } else if (at(l + 1, r) >= at(l, r + 1)) l += 1;
    else r += 1;
  }
  return [...lines, ...pair(left.slice(fromL), right.slice(fromR))];
}

const pair = (left: readonly string[], right: readonly string[]): ComparedLine[] =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, index) => ({
    left: left[index],
    right: right[index],
  }));

export interface ComparedPart {
  title: string;
  lines: ComparedLine[];
}

/** Two entries side by side: responses first, because they are compared most often. */
export function compareEntries(left: TrafficDetail, right: TrafficDetail): ComparedPart[] {
  const part = (title: string, read: (entry: TrafficDetail) => string[]): ComparedPart => ({
    title,
    lines: compareLines(read(left), read(right)),
  });
  const headers = (title: string, read: (entry: TrafficDetail) => readonly HeaderField[]): ComparedPart => ({
    title,
    lines: compareHeaders(read(left), read(right)),
  });
  return [
    part('Response', ({ status, durationMs }) => [
      status === null ? 'no answer' : String(status),
      formatMilliseconds(durationMs),
    ]),
    part('Response body', ({ responseBody }) => linesOf(responseBody)),
    headers('Response headers', ({ responseHeaders }) => responseHeaders),
    part('Request', (entry) => [
      `${entry.method} ${entry.target}`,
      `${entry.scheme}://${entry.authority ?? ''} ${protocolOf(entry)}`,
    ]),
    part('Request body', ({ requestBody }) => linesOf(requestBody)),
    headers('Request headers', ({ requestHeaders }) => requestHeaders),
  ].filter(({ lines }) => lines.length > 0);
}

/** Sorted by name: the fields of a name beside each other, wherever they stand. */
function compareHeaders(left: readonly HeaderField[], right: readonly HeaderField[]): ComparedLine[] {
  const nameOf = ({ name }: HeaderField): string => name.toLowerCase();
  const names = [...new Set([...left, ...right].map(nameOf))].toSorted();
  const of = (fields: readonly HeaderField[], name: string): string[] =>
    fields.filter((field) => nameOf(field) === name).map((field) => `${field.name}: ${field.value}`);
  return names.flatMap((name) => compareLines(of(left, name), of(right, name)));
}

function linesOf(body: TrafficDetail['responseBody']): string[] {
  if (body === null) return [];
  return (body.encoding === 'utf8' ? prettyJson(body.text) : body.text).split('\n');
}

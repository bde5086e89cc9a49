import { nextTurn } from '../base/turns.ts';

/** Array elements written before yielding to the event loop. */
const ELEMENTS_PER_TURN = 100;

/** Shorter answers contain no long arrays. */
const DEPTH_MAX = 2;

/**
 * Writes JSON exactly as `JSON.stringify`, but yields within long arrays: writing 20 MB at once would block all
 * requests.
 */
export async function jsonInTurns(value: unknown): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const text of piecesOf(value, 0)) pieces.push(Buffer.from(text));
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

async function* piecesOf(value: unknown, depth: number): AsyncGenerator<string, void, void> {
  if (Array.isArray(value) && value.length > ELEMENTS_PER_TURN) yield* elementsOf(value);
  else if (depth <= DEPTH_MAX && hasLongArray(value, DEPTH_MAX - depth)) yield* membersOf(value, depth);
  else yield JSON.stringify(value ?? null);
}

async function* elementsOf(array: readonly unknown[]): AsyncGenerator<string, void, void> {
  for (let start = 0; start < array.length; start += ELEMENTS_PER_TURN) {
    const group = JSON.stringify(array.slice(start, start + ELEMENTS_PER_TURN)).slice(1, -1);
    yield `${start === 0 ? '[' : ','}${group}`;
    await nextTurn();
  }
  yield ']';
}

async function* membersOf(
  record: Readonly<Record<string, unknown>>,
  depth: number,
): AsyncGenerator<string, void, void> {
  let separator = '{';
  for (const [name, member] of Object.entries(record)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* piecesOf(member, depth + 1);
    separator = ',';
  }
  yield '}';
}

/** Whether a record contains a long array anywhere and must be written member by member. */
function hasLongArray(value: unknown, depth: number): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'toJSON' in value) return false;
  return Object.values(value).some(
    (member) =>
      (Array.isArray(member) && member.length > ELEMENTS_PER_TURN) || (depth > 0 && hasLongArray(member, depth - 1)),
  );
}

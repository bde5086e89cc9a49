import { JsonElements } from '../../../../main/base/text/exact-json.ts';
import type { TrafficDetail } from '../../../../main/contract/traffic.ts';
import { HarFault, harDetail } from './har-entry.ts';
import { textPieces, UnreadableFileError } from '../../../shared/display/text-pieces.ts';

export const FILE_BYTES_MAX = 64 * 1024 * 1024;
export const ARCHIVED_MAX = 10_000;

/** The requests of a HAR file, newest first. */
export interface Archive {
  name: string;
  entries: readonly TrafficDetail[];
  /** How many entries were left out, and why the first of them was. */
  left: { count: number; reason: string } | undefined;
}

/**
 * Reads an HTTP archive (HAR 1.2) piece by piece, so the page stays responsive.
 * @throws UnreadableFileError when it is not one, or too large
 */
export async function openArchive(file: Blob & { name: string }): Promise<Archive> {
  if (file.size > FILE_BYTES_MAX) {
    throw new UnreadableFileError(
      `${file.name} has ${Math.round(file.size / 1_000_000)} MB; a file of up to 64 MiB can be opened. Export fewer requests.`,
    );
  }
  const reader = new EntryReader();
  const entries: TrafficDetail[] = [];
  let left: Archive['left'];
  let count = 0;
  const leave = (reason: string): void => {
    left = { count: (left?.count ?? 0) + 1, reason: left?.reason ?? reason };
  };
  for await (const { text } of textPieces(file)) {
    for (const element of reader.read(text)) {
      count += 1;
      if (entries.length === ARCHIVED_MAX) {
        leave('a list has 10,000 entries at most.');
        continue;
      }
      try {
        entries.push(harDetail(parse(element), count));
      } catch (error) {
        if (!(error instanceof HarFault)) throw error;
        leave(`entry ${count} ${error.message}: ${excerpt(element)}`);
      }
    }
  }
  reader.end();
  if (entries.length === 0) {
    throw new UnreadableFileError(
      left === undefined ? 'Its log has no entries.' : `None of its entries can be shown: ${left.reason}`,
    );
  }
  entries.sort((a, b) => (a.realAt < b.realAt ? 1 : a.realAt > b.realAt ? -1 : 0));
  return { name: file.name, entries, left };
}

function parse(element: string): unknown {
  try {
    return JSON.parse(element);
  } catch (error) {
    throw new HarFault(`is not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}

const excerpt = (text: string): string => {
  const [first = '', ...others] =
    text
      .trim()
      .replaceAll(/\s+/g, ' ')
      .match(/.{1,80}/gu) ?? [];
  return others.length === 0 ? first : `${first}…`;
};

/** Reads the elements of `log.entries` in a JSON text that comes in pieces. */
class EntryReader {
  readonly #entries = new JsonElements(['log', 'entries']);
  #isEmpty = true;

  read(piece: string): string[] {
    if (this.#isEmpty) {
      const start = piece.search(/[^\s\uFEFF]/);
      if (start >= 0 && piece.charAt(start) !== '{') {
        throw new UnreadableFileError(
          `It is not a HAR file: it must begin with {"log": …, but begins with ${excerpt(piece.slice(start, start + 200))}`,
        );
      }
      this.#isEmpty = start < 0;
    }
    return this.#entries.read(piece).filter((element) => element.trim() !== '');
  }

  /** @throws UnreadableFileError when the text had no entries, or ended within them */
  end(): void {
    if (this.#entries.state === 'after') return;
    throw new UnreadableFileError(
      this.#entries.state === 'inside'
        ? `It ends in the middle of an entry: ${excerpt(this.#entries.begun)}`
        : this.#isEmpty
          ? 'It is empty.'
          : 'It is not a HAR file: it has no list "entries" in an object "log".',
    );
  }
}

import { lineAt, markPieces, type BodyDocument, type BodyRow, type MarkedPiece } from './body-document.ts';

/** The state of a body on the page: folded lines, search text and current match. */
export class BodyReader {
  readonly #document: () => BodyDocument;
  #folded = $state.raw<readonly number[]>([]);
  query = $state('');
  #at = $state(0);
  readonly rows = $derived.by(() => this.#document().rows(this.#folded));
  readonly matches = $derived.by(() => (this.query === '' ? [] : this.#document().find(this.query)));

  /** `document`: reactive. */
  /** The index of the current match; -1 if there is none. */
  readonly at: number = $derived.by(() => Math.min(this.#at, this.matches.length - 1));

  constructor(document: () => BodyDocument) {
    this.#document = document;
  }

  get foldable(): boolean {
    return this.#document().folds().length > 1;
  }

  /** Searches for another text; returns the row of the first match. */
  find(query: string): BodyRow | undefined {
    this.query = query;
    this.#at = 0;
    return this.#reveal();
  }

  /** Goes to the next match, or to the one before, around the ends; returns its row. */
  step(by: 1 | -1): BodyRow | undefined {
    const { length } = this.matches;
    if (length === 0) return undefined;
    this.#at = (this.at + by + length) % length;
    return this.#reveal();
  }

  fold(line: number, folded: boolean): void {
    this.#folded = [...this.#folded.filter((other) => other !== line), ...(folded ? [line] : [])];
  }

  /** The outermost bracket stays open. */
  foldAll(): void {
    this.#folded = this.#document()
      .folds()
      .filter((line) => line > 0);
  }

  unfoldAll(): void {
    this.#folded = [];
  }

  /** The row that folds the block around a row. */
  parentOf(row: BodyRow): BodyRow | undefined {
    const line = this.#document().folds(row.from).at(-1);
    return line === undefined ? undefined : this.rows.find(({ fold }) => fold?.line === line);
  }

  piecesOf(row: BodyRow): MarkedPiece[] {
    return markPieces(this.#document().pieces(row), this.matches, this.at);
  }

  /** Unfolds the blocks around the current match. */
  #reveal(): BodyRow | undefined {
    const match = this.matches[this.at];
    if (match === undefined) return undefined;
    const around = this.#document().folds(match.from);
    if (this.#folded.some((line) => around.includes(line))) {
      this.#folded = this.#folded.filter((line) => !around.includes(line));
    }
    const { rows } = this;
    return rows[
      lineAt(
        rows.map(({ from }) => from),
        match.from,
      )
    ];
  }
}

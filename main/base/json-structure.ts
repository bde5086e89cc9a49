/**
 * Finds the structural characters of JSON text: brackets, braces, commas and colons outside strings. The text may
 * arrive in pieces and is not validated; invalid text yields arbitrary positions, but the search always terminates.
 */
export class JsonStructure {
  #inString = false;
  /** Whether the previous character, inside a string, was a backslash. */
  #escaped = false;

  /** The index of the next structural character in `piece` at or after `from`, or -1. Search all of a text in order. */
  next(piece: string, from: number): number {
    for (let index = from; index < piece.length; index++) {
      const unit = piece.charCodeAt(index);
      if (this.#escaped) this.#escaped = false;
      else if (unit === QUOTE) this.#inString = !this.#inString;
      else if (!this.#inString) {
        if (isStructural(unit)) return index;
      } else if (unit === BACKSLASH) this.#escaped = true;
    }
    return -1;
  }
}

export const COMMA = 0x2c;
export const COLON = 0x3a;
export const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export const opens = (unit: number): boolean => unit === OPEN_BRACKET || unit === OPEN_BRACE;
export const closes = (unit: number): boolean => unit === CLOSE_BRACKET || unit === CLOSE_BRACE;
const isStructural = (unit: number): boolean => unit === COMMA || unit === COLON || opens(unit) || closes(unit);

/** Large enough for many entries, small enough to waste little in the last one. */
export const BLOCK_BYTES = 1024 * 1024;

/** Memory outside V8's heap for the bytes of entries, freed together with its last entry. */
export interface Block {
  readonly buffer: Buffer;
  /** Bytes written so far. */
  used: number;
  /** The number of the newest entry with data in this block. */
  newest: number;
}

/**
 * A queue of blocks: appended at its end, freed at its beginning. The garbage collector would move the data of ten
 * thousand requests again and again; bytes in blocks are written once and overwritten in place.
 */
export interface Blocks {
  /** A block with room for `bytes`, at most a block's size; null if the limit on blocks is reached. */
  open(bytes: number): Block | null;
  /** Frees the blocks whose entries are all older than entry `oldest`. */
  release(oldest: number): void;
  /** Bytes in use, in whole blocks. */
  size(): number;
}

export function createBlocks(countMax: number): Blocks {
  let inUse: Block[] = [];
  const free: Buffer[] = [];

  return {
    open(bytes) {
      const last = inUse.at(-1);
      if (last !== undefined && last.used + bytes <= BLOCK_BYTES) return last;
      if (inUse.length >= countMax) return null;
      const block = { buffer: free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES), used: 0, newest: 0 };
      inUse.push(block);
      return block;
    },
    release(oldest) {
      while (inUse[0] !== undefined && inUse[0].newest < oldest) {
        const { buffer } = inUse[0];
        inUse = inUse.slice(1);
        // One spare block suffices; more would waste memory after large bodies are gone.
        if (free.length === 0) free.push(buffer);
      }
    },
    size: () => inUse.length * BLOCK_BYTES,
  };
}

/** Large enough for many entries, small enough that the last one wastes little. */
export const BLOCK_BYTES = 1024 * 1024;

/** Memory outside of V8's heap, for what entries keep as bytes. Given back as a whole with the last entry that is in it. */
export interface Block {
  readonly buffer: Buffer;
  /** How much of it is written. */
  used: number;
  /** The number of the newest entry that has something in it. */
  newest: number;
}

/**
 * A queue of blocks: written at its end, given back at its beginning. What is kept for ten thousand requests would be
 * moved about by the garbage collector, again and again; bytes in blocks are written once and written over.
 */
export interface Blocks {
  /** A block with room for `bytes`, at most a block's size; null when there are as many blocks as there may be. */
  open(bytes: number): Block | null;
  /** Gives back the blocks in which all entries are older than entry `oldest`. */
  release(oldest: number): void;
  /** Bytes that are in use, in whole blocks. */
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
        // One is enough to go on with; more would be held for nothing when large bodies have gone.
        if (free.length === 0) free.push(buffer);
      }
    },
    size: () => inUse.length * BLOCK_BYTES,
  };
}

import { HEADER_OCTETS } from '../wire/message-guard.ts';

/** Room for about 40,000 short queries with their replies. */
const MEMORY_OCTETS = 4 * 1024 * 1024;

/** Longer replies are rare and would evict many others. */
const KEPT_OCTETS_MAX = 512;

/** Slots of the table, grouped into sets; a query is in one slot of its set. */
const SLOTS = 32_768;
const SET_SLOTS = 4;

/** A slot: the query's hash (0: empty) and its offset in memory. */
const SLOT_NUMBERS = 2;

/** The header of an entry: the query's length, the end of its question, the reply's length. */
const LENGTHS_OCTETS = 6;

const ID_OCTETS = 2;

/**
 * Replies by the octets of their queries. A reply depends only on the query and the zones, so entries are valid until a
 * zone changes. Computing a reply visits dozens of objects which, among 100,000 records, are in no CPU cache; a hit
 * reads one stretch of memory.
 *
 * A hit compares all octets except the id, because hashes collide.
 */
export class ReplyCache {
  /** Filled from the start and cleared as a whole: entries used together are adjacent. */
  readonly #memory = Buffer.alloc(MEMORY_OCTETS);
  #end = 0;
  readonly #slots = new Uint32Array(SLOTS * SLOT_NUMBERS);
  #nextVictim = 0;

  clear(): void {
    if (this.#end === 0) return;
    this.#slots.fill(0);
    this.#end = 0;
  }

  /** The cached reply to a query with the same octets, with this query's id; null on a miss. */
  find(query: Buffer): Buffer | null {
    if (query.length > KEPT_OCTETS_MAX) return null;
    const hash = hashOf(query);
    const first = firstSlot(hash);
    for (let slot = first; slot < first + SET_SLOTS * SLOT_NUMBERS; slot += SLOT_NUMBERS) {
      if (this.#slots[slot] !== hash) continue;
      const reply = this.#read(this.#slots[slot + 1] ?? 0, query);
      if (reply !== null) return reply;
    }
    return null;
  }

  /** Stores a reply that repeats its query's question, which ends at `questionEnd`. */
  keep(query: Buffer, questionEnd: number, reply: Buffer): void {
    if (query.length + reply.length > KEPT_OCTETS_MAX) return;
    if (this.#end + LENGTHS_OCTETS + query.length + reply.length > MEMORY_OCTETS) this.clear();
    const hash = hashOf(query);
    const slot = this.#slotFor(firstSlot(hash));
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = this.#end;
    const memory = this.#memory;
    memory.writeUInt16LE(query.length, this.#end);
    memory.writeUInt16LE(questionEnd, this.#end + 2);
    memory.writeUInt16LE(reply.length, this.#end + 4);
    this.#end += LENGTHS_OCTETS;
    this.#end += query.copy(memory, this.#end, ID_OCTETS);
    // Stores only the reply's own octets: the header's flags and counts, and everything after the question.
    this.#end += reply.copy(memory, this.#end, ID_OCTETS, HEADER_OCTETS);
    this.#end += reply.copy(memory, this.#end, questionEnd);
  }

  /** Null on a mismatch. A loop is faster than `compare` or `copy` for so few octets. */
  #read(at: number, query: Buffer): Buffer | null {
    const memory = this.#memory;
    const length = query.length;
    if (memory.readUInt16LE(at) !== length) return null;
    let from = at + LENGTHS_OCTETS;
    for (let index = ID_OCTETS; index < length; index++) if (memory[from++] !== query[index]) return null;
    const questionEnd = memory.readUInt16LE(at + 2);
    const reply = Buffer.allocUnsafe(memory.readUInt16LE(at + 4));
    for (let index = 0; index < questionEnd; index++) {
      reply[index] = (index < ID_OCTETS || index >= HEADER_OCTETS ? query[index] : memory[from++]) ?? 0;
    }
    for (let index = questionEnd; index < reply.length; index++) reply[index] = memory[from++] ?? 0;
    return reply;
  }

  /** A slot of the set for a new query: an empty one, or one to evict. */
  #slotFor(first: number): number {
    for (let slot = first; slot < first + SET_SLOTS * SLOT_NUMBERS; slot += SLOT_NUMBERS) {
      if (this.#slots[slot] === 0) return slot;
    }
    this.#nextVictim = (this.#nextVictim + 1) % SET_SLOTS;
    return first + this.#nextVictim * SLOT_NUMBERS;
  }
}

/** FNV-1a over the query without its id; never 0, which marks an empty slot. */
function hashOf(query: Buffer): number {
  let hash = 0x811c_9dc5;
  for (let index = ID_OCTETS; index < query.length; index++) hash = Math.imul(hash ^ (query[index] ?? 0), 0x0100_0193);
  return (hash | 1) >>> 0;
}

/** The first slot of a hash's set. FNV mixes the high bits best. */
const firstSlot = (hash: number): number =>
  (((hash ^ (hash >>> 15)) >>> 1) & (SLOTS / SET_SLOTS - 1)) * SET_SLOTS * SLOT_NUMBERS;

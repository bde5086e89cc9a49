import { HEADER_OCTETS } from './message-guard.ts';

/** Room for some 40,000 short queries with their replies. */
const MEMORY_OCTETS = 4 * 1024 * 1024;

/** Longer ones are rare, and would push out many others. */
const KEPT_OCTETS_MAX = 512;

/** Places of the table, in sets; a query is in one of its set's places. */
const PLACES = 32_768;
const SET_PLACES = 4;

/** What a place has: the query's hash (0: it is empty), and where in the memory query and reply are. */
const PLACE_NUMBERS = 2;

/** What stands before a query in the memory: its length, the end of its question, the reply's length. */
const LENGTHS_OCTETS = 6;

const ID_OCTETS = 2;

/**
 * Replies to queries, by the queries' octets: the same octets get the same reply until a zone changes, because a reply
 * follows from nothing else. Making one visits dozens of objects which, among 100,000 records, are in no cache of the
 * processor; finding one visits one stretch of memory.
 *
 * The octets are compared, all but the id, so that a reply is never another query's.
 */
export class ReplyCache {
  /** Filled from its beginning, and emptied as a whole: what is asked for together lies together. */
  readonly #memory = Buffer.alloc(MEMORY_OCTETS);
  #end = 0;
  readonly #places = new Uint32Array(PLACES * PLACE_NUMBERS);
  #nextVictim = 0;

  /** Forgets everything. */
  clear(): void {
    if (this.#end === 0) return;
    this.#places.fill(0);
    this.#end = 0;
  }

  /** What a query with the same octets was replied, with this one's id; null when that is not known. */
  find(query: Buffer): Buffer | null {
    if (query.length > KEPT_OCTETS_MAX) return null;
    const hash = hashOf(query);
    const first = firstPlace(hash);
    for (let place = first; place < first + SET_PLACES * PLACE_NUMBERS; place += PLACE_NUMBERS) {
      if (this.#places[place] !== hash) continue;
      const reply = this.#read(this.#places[place + 1] ?? 0, query);
      if (reply !== null) return reply;
    }
    return null;
  }

  /** Keeps a reply that repeats the question of its query, which ends at `questionEnd`. */
  keep(query: Buffer, questionEnd: number, reply: Buffer): void {
    if (query.length + reply.length > KEPT_OCTETS_MAX) return;
    if (this.#end + LENGTHS_OCTETS + query.length + reply.length > MEMORY_OCTETS) this.clear();
    const hash = hashOf(query);
    const place = this.#placeFor(firstPlace(hash));
    this.#places[place] = hash;
    this.#places[place + 1] = this.#end;
    const memory = this.#memory;
    memory.writeUInt16LE(query.length, this.#end);
    memory.writeUInt16LE(questionEnd, this.#end + 2);
    memory.writeUInt16LE(reply.length, this.#end + 4);
    this.#end += LENGTHS_OCTETS;
    this.#end += query.copy(memory, this.#end, ID_OCTETS);
    // Of the reply, what is not the query's: the header's flags and counts, and all that follows the question.
    this.#end += reply.copy(memory, this.#end, ID_OCTETS, HEADER_OCTETS);
    this.#end += reply.copy(memory, this.#end, questionEnd);
  }

  /** Null when other octets are there. Octet by octet: for so few, a call of `compare` or `copy` takes longer. */
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

  /** A place of the set for another query: an empty one, or one whose query is forgotten for it. */
  #placeFor(first: number): number {
    for (let place = first; place < first + SET_PLACES * PLACE_NUMBERS; place += PLACE_NUMBERS) {
      if (this.#places[place] === 0) return place;
    }
    this.#nextVictim = (this.#nextVictim + 1) % SET_PLACES;
    return first + this.#nextVictim * PLACE_NUMBERS;
  }
}

/** FNV-1a over the query without its id; never 0. */
function hashOf(query: Buffer): number {
  let hash = 0x811c_9dc5;
  for (let index = ID_OCTETS; index < query.length; index++) hash = Math.imul(hash ^ (query[index] ?? 0), 0x0100_0193);
  return (hash | 1) >>> 0;
}

/** Where the set of a hash begins. Of a hash by FNV, the high bits are the better mixed ones. */
const firstPlace = (hash: number): number =>
  (((hash ^ (hash >>> 15)) >>> 1) & (PLACES / SET_PLACES - 1)) * SET_PLACES * PLACE_NUMBERS;

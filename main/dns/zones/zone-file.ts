import { absoluteText, isAtOrBelow, parseName, type DomainName } from '../../model/dns-name.ts';
import { formatRecord, parseTokens, parseTtl } from '../wire/record-text.ts';
import { NAMED_TYPES } from '../../contract/record-types.ts';
import { readRecordType, TTL_SECONDS_MAX } from '../wire/record.ts';
import type { RecordData, RecordType, ResourceRecord } from '../wire/record.ts';
import { expandEntry, isDirective, readEntries, type Entry, type Token } from '../wire/tokens.ts';
import { carelessFaults, DEFAULT_TTL_SECONDS, recordFaults, type Zone } from './zone.ts';

export const ZONE_FILE_CHARACTERS_MAX = 16 * 1024 * 1024;
export const ZONE_FILE_RECORDS_MAX = 100_000;

/** Characters of a part per entry; longer entries shorten the part. */
const ENTRY_CHARACTERS = 640;

/** Maximum listed faults; a file with more is probably not a zone file. */
const FAULTS_MAX = 1000;

export interface ZoneFileFault {
  /** From 1: the line on which the record or directive begins. */
  line: number;
  message: string;
  /** A careless provider would accept this line. */
  forcible?: true;
}

export interface ZoneFileResult {
  /** The valid records, in file order. */
  records: ResourceRecord[];
  /** One per rejected line, in file order; at most 1,000. */
  faults: ZoneFileFault[];
  /** Lines accepted verbatim although they are probably mistakes. */
  warnings: ZoneFileFault[];
}

export interface ZoneFileOptions {
  /** The zone's apex; names are relative to it until `$ORIGIN` and must be at or below it. */
  apex: DomainName;
  /** TTL of records without one, before any `$TTL`. */
  ttlSeconds?: number;
  supportsAlias?: boolean;
  /** Data of the zone's existing records by name, for the rules on records that share a name. */
  at?: (name: DomainName) => readonly RecordData[];
  /** Accepts everything a careless provider would (`carelessFaults`). */
  force?: boolean;
  /** Texts by the names that `$INCLUDE` gives them. */
  files?: Readonly<Record<string, string>>;
}

/**
 * Parses a zone file (RFC 1035 §5.1; `$TTL`, RFC 2308 §4): comments, parentheses, quoting, escapes, relative names,
 * omitted owners and TTLs. Bad lines are reported by number and skipped. `ALIAS` and `ANAME` are record types like
 * others. `$GENERATE` works as in BIND, and `$INCLUDE` reads one of the texts in `files`. A fault in such a text has
 * the line of the first `$INCLUDE` that led to it.
 *
 * Parses `entriesEach` entries per part, or fewer long ones, so the caller can do other work in between; calls `at` at
 * the end of each part. No entry spans two parts; limits apply to the whole file.
 */
export function* readZoneFileInParts(
  text: string,
  options: ZoneFileOptions,
  entriesEach: number,
): Generator<ZoneFileResult, void, void> {
  if (text.length > ZONE_FILE_CHARACTERS_MAX) {
    const message = `The zone file has more than ${ZONE_FILE_CHARACTERS_MAX} characters; import it in parts.`;
    return yield { ...emptyPart(), faults: [{ line: 1, message }] };
  }
  const reader = new ZoneFileReader(options);
  let entries = 0;
  let characters = 0;
  for (const entry of reader.entries(text)) {
    if (!reader.read(entry)) break;
    if (entry.tokens.length > 0) entries++;
    characters += entry.characters;
    if (entries < entriesEach && characters < entriesEach * ENTRY_CHARACTERS) continue;
    yield reader.takePart();
    entries = characters = 0;
  }
  yield reader.takePart();
}

/** The maximum depth of included texts; a text that includes itself reaches it. */
const INCLUDE_DEPTH_MAX = 10;

/** An entry and, for an included text, its place there. */
interface PlacedEntry extends Entry {
  within?: string;
}

const emptyPart = (): ZoneFileResult => ({ records: [], faults: [], warnings: [] });

class ZoneFileReader {
  #part = emptyPart();
  /** Counted over the whole file. */
  #records = 0;
  #faults = 0;
  readonly #options: ZoneFileOptions;
  readonly #here = new Map<DomainName, RecordData[]>();
  /** The results of `at` in this part, during which nothing else changes. */
  #present = new Map<DomainName, readonly RecordData[]>();
  #origin: DomainName;
  #owner: DomainName | null = null;
  #defaultTtlSeconds: number | null = null;
  #lastTtlSeconds: number | null = null;
  /** Characters of all included texts, with repetitions. */
  #includedCharacters = 0;

  constructor(options: ZoneFileOptions) {
    this.#options = options;
    this.#origin = options.apex;
  }

  /** The entries of a text and of those that it includes, lazily: an `$INCLUDE` depends on the origin before it. */
  *entries(text: string, file?: { name: string; line: number; depth: number }): Generator<PlacedEntry, void, void> {
    // Some editors write a byte order mark before the first line.
    for (const read of readEntries(text.startsWith('\ufeff') ? text.slice(1) : text)) {
      const entry: PlacedEntry =
        file === undefined ? read : { ...read, line: file.line, within: `"${file.name}", line ${read.line}: ` };
      if (!isDirective(entry, '$INCLUDE')) {
        yield* expandEntry(entry);
        continue;
      }
      const fault = yield* this.#include(entry, file?.depth ?? 0);
      if (fault !== null) yield { ...entry, fault };
    }
  }

  /** RFC 1035 §5.1: `$INCLUDE` does not change the origin of the including text; BIND also keeps the owner. */
  *#include({ line, tokens }: Entry, depth: number): Generator<PlacedEntry, string | null, void> {
    const [, named, within, extra] = tokens;
    if (named === undefined || extra !== undefined)
      return '$INCLUDE takes the name of a text, and an origin if needed.';
    const { files = {} } = this.#options;
    const path = named.text;
    // A browser passes files without their folders.
    const name = Object.hasOwn(files, path) ? path : path.slice(path.lastIndexOf('/') + 1);
    const text = Object.hasOwn(files, name) ? files[name] : undefined;
    if (text === undefined) return `$INCLUDE: there is no text "${path}" in this import; add that file to it.`;
    const origin = within === undefined ? null : parseName(within.text, this.#origin);
    if (origin?.ok === false) return origin.message;
    if (depth === INCLUDE_DEPTH_MAX) return `$INCLUDE: texts include each other more than ${INCLUDE_DEPTH_MAX} deep.`;
    this.#includedCharacters += text.length;
    if (this.#includedCharacters > ZONE_FILE_CHARACTERS_MAX) {
      return `The included texts have more than ${ZONE_FILE_CHARACTERS_MAX} characters; import them in parts.`;
    }
    const [outerOrigin, outerOwner] = [this.#origin, this.#owner];
    if (origin !== null) this.#origin = origin.name;
    yield* this.entries(text, { name, line, depth: depth + 1 });
    [this.#origin, this.#owner] = [outerOrigin, outerOwner];
    return null;
  }

  /** Parsed since the last part. */
  takePart(): ZoneFileResult {
    const part = this.#part;
    this.#part = emptyPart();
    this.#present.clear();
    return part;
  }

  /** False once parsing ends early. */
  read(entry: PlacedEntry): boolean {
    const fault = entry.fault ?? this.#readEntry(entry);
    if (fault !== null) this.#fail(entry, typeof fault === 'string' ? { message: fault } : fault);
    if (this.#faults >= FAULTS_MAX) {
      this.#fail(entry, {
        message: `More than ${FAULTS_MAX} lines can't be read; the rest of the file was skipped.`,
      });
      return false;
    }
    if (this.#records <= ZONE_FILE_RECORDS_MAX) return true;
    this.#part.records.pop();
    const message = `A zone file may have ${ZONE_FILE_RECORDS_MAX} records; this one and the following were skipped.`;
    this.#fail(entry, { message });
    return false;
  }

  #fail({ line, within = '' }: PlacedEntry, fault: Omit<ZoneFileFault, 'line'>): void {
    this.#part.faults.push({ ...fault, line, message: within + fault.message });
    this.#faults++;
  }

  /** The entry's fault, or null. */
  #readEntry(entry: PlacedEntry): string | Omit<ZoneFileFault, 'line'> | null {
    const { indented, tokens } = entry;
    const [first] = tokens;
    if (first === undefined) return null;
    if (!first.quoted && !indented && first.text.startsWith('$')) return this.#readDirective(tokens);

    const rest = [...tokens];
    const owner = indented ? this.#owner : this.#readOwner(rest);
    if (typeof owner === 'object') return owner === null ? 'The first record needs a name before it.' : owner.fault;
    this.#owner = owner;
    const head = readHead(rest);
    if ('fault' in head) return head.fault;

    const data = parseTokens(head.type, rest, this.#origin);
    if (!data.ok) return data.message;
    const ttlSeconds = this.#ttl(head.ttlSeconds, data.data);
    return this.#add(entry, { name: owner, ttlSeconds, data: data.data }, data.warnings);
  }

  #readOwner(tokens: Token[]): DomainName | { fault: string } {
    const token = tokens.shift();
    const result = parseName(token?.text ?? '', this.#origin);
    return result.ok ? result.name : { fault: result.message };
  }

  #readDirective([directive, argument, extra]: readonly Token[]): string | null {
    const name = (directive?.text ?? '').toUpperCase();
    if (name !== '$ORIGIN' && name !== '$TTL') {
      return `"${name}" is not supported; $ORIGIN, $TTL, $INCLUDE and $GENERATE are.`;
    }
    if (argument === undefined || extra !== undefined) return `${name} takes one value.`;
    if (name === '$TTL') {
      const seconds = parseTtl(argument.text);
      if (seconds === null) return `$TTL is a number of seconds from 0 to ${TTL_SECONDS_MAX}, or like 1h30m.`;
      this.#defaultTtlSeconds = seconds;
      return null;
    }
    const origin = parseName(argument.text, this.#origin);
    if (!origin.ok) return origin.message;
    this.#origin = origin.name;
    return null;
  }

  /**
   * RFC 2308 §4 and RFC 1035 §5.1: the line's own TTL, then `$TTL`, then the last one written. If an SOA has none of
   * these, its minimum counts as `$TTL` from there on, as in BIND.
   */
  #ttl(written: number | null, data: RecordData): number {
    if (written !== null) return (this.#lastTtlSeconds = written);
    const seconds = this.#defaultTtlSeconds ?? this.#lastTtlSeconds;
    if (seconds !== null) return seconds;
    if (data.type !== 'SOA') return this.#options.ttlSeconds ?? DEFAULT_TTL_SECONDS;
    return (this.#defaultTtlSeconds = data.minimumSeconds);
  }

  #presentAt(name: DomainName): readonly RecordData[] {
    let present = this.#present.get(name);
    if (present === undefined) this.#present.set(name, (present = this.#options.at?.(name) ?? []));
    return present;
  }

  #add(
    { line, within = '' }: PlacedEntry,
    record: ResourceRecord,
    warnings: string[],
  ): Omit<ZoneFileFault, 'line'> | null {
    const { apex, supportsAlias = true, force = false } = this.#options;
    const here = this.#here.get(record.name) ?? [];
    const careless = carelessFaults(apex, record);
    const faults = force
      ? careless
      : recordFaults({ apex, supportsAlias, at: (name) => [...this.#presentAt(name), ...here] }, record);
    if (faults[0] !== undefined) return { message: faults[0], ...(careless.length === 0 && { forcible: true }) };
    // The rules need one record per type, which keeps long RRsets cheap.
    if (!here.some(({ type }) => type === record.data.type)) this.#here.set(record.name, [...here, record.data]);
    this.#part.records.push(record);
    this.#records++;
    for (const message of warnings) this.#part.warnings.push({ line, message: within + message });
    return null;
  }
}

const TYPES_TEXT = `${NAMED_TYPES.join(', ')}, or a number as TYPE65280`;

/** Optional TTL and class, in either order, before the type (RFC 1035 §5.1); removes them from `tokens`. */
function readHead(tokens: Token[]): { type: RecordType; ttlSeconds: number | null } | { fault: string } {
  let ttlSeconds: number | null = null;
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    const word = token.text.toUpperCase();
    if (token.quoted) break;
    const type = readRecordType(word);
    if (type !== null) return { type, ttlSeconds };
    if (word === 'IN') continue;
    if (word === 'CH' || word === 'HS' || word === 'CS') return { fault: `Class ${word} is not served; write IN.` };
    const seconds = parseTtl(word);
    if (seconds === null || ttlSeconds !== null) {
      return { fault: `"${token.text}" is not a TTL, a class or a supported type; types are ${TYPES_TEXT}.` };
    }
    ttlSeconds = seconds;
  }
  return { fault: `The type is missing; it is one of ${TYPES_TEXT}.` };
}

/** A zone as a zone file; `readZoneFile` and, except for ALIAS and ANAME, other name servers parse it losslessly. */
export function writeZoneFile(zone: Zone): string {
  const inside = zone.records.filter(({ name }) => isAtOrBelow(name, zone.apex));
  // RFC 1035 §5.2: the SOA comes first. The others keep their order.
  const ordered = [...inside].sort((a, b) => Number(b.data.type === 'SOA') - Number(a.data.type === 'SOA'));
  const lines = ordered.map((record) => formatRecord(record, zone.apex));
  return `$ORIGIN ${absoluteText(zone.apex)}\n${lines.join('\n')}\n`;
}

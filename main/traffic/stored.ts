import { zstdCompress, zstdDecompress } from 'node:zlib';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { AdjustableClock } from '../base/clock.ts';
import { pairsOf } from '../base/http/message.ts';
import { nextTurn } from '../base/turns.ts';
import { trafficDetail, type TrafficDetail } from '../contract/traffic.ts';
import type { RecordedBody, RecordedFrames, RecordedRoute } from '../model/exchange-record.ts';
import { type Entry, type EntryIds, isEntryId } from './entry.ts';
import { keptBytes } from './har.ts';
import { bytesOf, FRAME_KINDS, presentDetail, type Presentation } from './present.ts';
import { ENTRIES_MAX } from './entry-log.ts';
import type { Recorder } from './recorder.ts';
import type { Redactor } from './redact.ts';
import { RESERVE_ENTRIES_MAX } from './reserve.ts';

/** The version of the format below; increases with every change that an older Vivarium can’t read. */
const FORM = 1;

/** Limit on the lines of entries and their bodies, before compression; the oldest entries are left out. */
export const STORED_BYTES_MAX = 32 * 1024 * 1024;

/** Written or read per turn of the event loop; takes a few milliseconds. */
const BYTES_PER_TURN = 64 * 1024;

/** Lines of up to a few kilobytes, checked in some two milliseconds. */
const LINES_PER_TURN = 50;

const versioned = z.object({ form: z.int().min(1) });
const counts = z.object({
  texts: z.int().min(0),
  entries: z
    .int()
    .min(0)
    .max(ENTRIES_MAX + RESERVE_ENTRIES_MAX),
});

/** Index of a body's text, which many entries share; null without a body. */
const textIndex = z.int().min(0).nullable();

const line = z.object({
  number: z.int().min(1),
  port: z.int(),
  /** 0 in older snapshots. */
  connection: z.int().default(0),
  place: z.int().default(0),
  withheld: z.boolean(),
  /** Not rounded, because the displayed times are differences. */
  durationMs: z.number(),
  handedMs: z.number().nullable(),
  firstByteMs: z.number().nullable(),
  requestText: textIndex,
  responseText: textIndex,
  /** As displayed, without the texts of its bodies. */
  detail: trafficDetail.extend({
    id: z.string().refine(isEntryId),
    replayOf: z.string().refine(isEntryId).optional(),
    upstream: z
      .string()
      .refine((text) => URL.canParse(text))
      .optional(),
  }),
});
type Line = z.infer<typeof line>;

/** Recorded traffic as bytes, for a snapshot. */
export interface StoredTraffic {
  content: Buffer;
  entries: number;
}

/** An entry with its previous id. */
export interface RestoredEntry {
  entry: Entry;
  id: string;
}

/** Saves the recorder's entries for a snapshot, and replaces them by those of one. */
export function createTrafficStorage({
  recorder,
  ids,
  clock,
  presentation,
}: {
  recorder: Pick<Recorder, 'newestFirst' | 'restore'>;
  ids: EntryIds;
  clock: Pick<AdjustableClock, 'state'>;
  presentation: () => Presentation;
}) {
  return {
    write: (): Promise<StoredTraffic> => writeStored(recorder.newestFirst(), presentation()),
    /** @throws Error whose message describes the fault. */
    read: readStored,
    restore(restored: readonly RestoredEntry[]): void {
      recorder.restore(restored.map(({ entry }) => entry));
      ids.restore(
        restored.map(({ id, entry: { number } }) => ({ id, number })),
        clock.state().realNow,
      );
    },
  };
}

export type TrafficStorage = ReturnType<typeof createTrafficStorage>;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * Entries, newest first, as displayed: the unredacted data that the log keeps for replay never leaves the memory. JSON
 * lines in Zstandard: a head, the texts of bodies, each once, and the entries, oldest first. Written in turns.
 */
export async function writeStored(entries: Iterable<Entry>, presentation: Presentation): Promise<StoredTraffic> {
  const texts = new Map<string, number>();
  const textLines: Buffer[] = [];
  const lines: Buffer[] = [];
  let bytes = 0;
  let bytesOfTurn = 0;

  for (const entry of entries) {
    const added: Buffer[] = [];
    const indexOf = (body: TrafficDetail['requestBody']): number | null => {
      if (body === null) return null;
      const known = texts.get(body.text);
      if (known !== undefined) return known;
      added.push(lineOf(body.text));
      texts.set(body.text, texts.size);
      return texts.size - 1;
    };
    const detail = presentDetail(entry, presentation);
    const written = lineOf({
      number: entry.number,
      port: entry.port,
      connection: Math.abs(entry.connection),
      place: entry.place,
      withheld: entry.withheld === true || hasSecrets(entry, detail, presentation.redactor),
      durationMs: entry.durationMs,
      handedMs: entry.record.handedMs,
      firstByteMs: entry.record.firstByteMs,
      requestText: indexOf(detail.requestBody),
      responseText: indexOf(detail.responseBody),
      detail: {
        ...detail,
        requestBody: withoutText(detail.requestBody),
        responseBody: withoutText(detail.responseBody),
      },
    } satisfies Line);
    const size = added.reduce((sum, { length }) => sum + length, written.length);
    if (bytes + size > STORED_BYTES_MAX) break;
    bytes += size;
    bytesOfTurn += written.length + keptBytes(entry);
    textLines.push(...added);
    lines.push(written);
    if (bytesOfTurn < BYTES_PER_TURN) continue;
    bytesOfTurn = 0;
    await nextTurn();
  }
  const first = [{ form: FORM }, { texts: textLines.length, entries: lines.length }].map(lineOf);
  const whole = Buffer.concat([...first, ...textLines, ...lines.toReversed()]);
  return { content: await compress(whole), entries: lines.length };
}

const lineOf = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

const withoutText = (body: TrafficDetail['requestBody']): TrafficDetail['requestBody'] => body && { ...body, text: '' };

/** Whether the displayed request lacks secrets, so it can't be sent again. The API key is added anew. */
function hasSecrets(entry: Entry, { target, requestHeaders, requestBody }: TrafficDetail, redactor: Redactor): boolean {
  const { record, keyId } = entry;
  if (target !== entry.target) return true;
  const isChanged = ([name, value]: readonly [string, string], index: number): boolean =>
    value !== requestHeaders[index]?.value && (keyId === null || name.toLowerCase() !== 'authorization');
  if (pairsOf(record.requestFields).some(isChanged)) return true;
  const sent = bytesOf(record.requestBody);
  return requestBody?.encoding === 'utf8'
    ? redactor.body(sent.toString()) !== sent.toString()
    : !redactor.bytes(sent).equals(sent);
}

/** Reads the output of `writeStored`, in turns. @throws Error whose message describes the fault. */
export async function readStored(content: Buffer): Promise<RestoredEntry[]> {
  const damaged = (cause: unknown): Error => new Error('its recorded traffic is damaged', { cause });
  let values: Iterator<unknown>;
  let form: number;
  try {
    values = linesOf(await decompress(content, { maxOutputLength: STORED_BYTES_MAX + BYTES_PER_TURN }));
    form = versioned.parse(values.next().value).form;
  } catch (error) {
    throw damaged(error);
  }
  if (form !== FORM) throw new Error('its recorded traffic is from a newer Vivarium; update this one');
  try {
    return await readEntries(values);
  } catch (error) {
    throw damaged(error);
  }
}

function* linesOf(bytes: Buffer): Generator<unknown, void, void> {
  let start = 0;
  for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
    yield JSON.parse(bytes.toString('utf8', start, end));
    start = end + 1;
  }
}

async function readEntries(values: Iterator<unknown>): Promise<RestoredEntry[]> {
  const { texts, entries } = counts.parse(values.next().value);
  const bodies = new Bodies();
  for (let read = 1; read <= texts; read++) {
    bodies.add(z.string().parse(values.next().value));
    if (read % LINES_PER_TURN === 0) await nextTurn();
  }
  const restored: RestoredEntry[] = [];
  for (let read = 1; read <= entries; read++) {
    const { number, ...kept } = line.parse(values.next().value);
    if (number <= (restored.at(-1)?.entry.number ?? 0)) throw new Error('The entries are not in order.');
    restored.push({ id: kept.detail.id, entry: entryOf({ number, ...kept }, bodies) });
    if (read % LINES_PER_TURN === 0) await nextTurn();
  }
  return restored;
}

/** The bytes of texts, each once. */
class Bodies {
  readonly #texts: string[] = [];
  readonly #bytes = new Map<string, Buffer>();

  add(text: string): void {
    this.#texts.push(text);
  }

  of(shown: TrafficDetail['requestBody'], index: number | null, bytes: number): RecordedBody {
    if (shown === null || index === null) return { chunks: [], bytes };
    const { encoding, cut, decoded } = shown;
    const text = this.#texts[index];
    if (text === undefined) throw new Error('A body has no text.');
    const key = `${encoding} ${index}`;
    const kept = this.#bytes.get(key) ?? Buffer.from(text, encoding);
    this.#bytes.set(key, kept);
    return { chunks: [kept], bytes, asShown: { cut, ...(decoded !== undefined && { decoded }) } };
  }
}

function entryOf({ detail, handedMs, firstByteMs, requestText, responseText, ...kept }: Line, bodies: Bodies): Entry {
  const { projectId, environment, refusal, window, rate, replayOf } = detail;
  const { method, target, scheme, httpVersion, authority, status, stage, address, aborted } = detail;
  const begun = /_r(\d+)$/.exec(detail.id)?.[1];
  return {
    ...kept,
    // Those of this run are positive.
    connection: -kept.connection,
    ...{ method, target, scheme, httpVersion, authority, status, stage, address, aborted },
    running: false,
    begun: begun === undefined ? null : Number(begun),
    atMs: Date.parse(detail.at),
    realAtMs: Date.parse(detail.realAt),
    keyId: detail.keyId ?? null,
    byProxy: detail.answeredBy === 'proxy',
    fault: detail.fault ?? null,
    route:
      projectId === undefined || environment === undefined
        ? null
        : { projectId, environment, target: targetOf(detail) },
    decision: rate && {
      refusal: refusal === undefined ? null : { code: refusal, ...(window !== undefined && { window }) },
      rate: { limit: rate.limit, remaining: rate.remaining, resetAtMs: rate.resetSeconds * 1_000 },
    },
    replayOf: replayOf === undefined ? null : Number(replayOf.slice(replayOf.lastIndexOf('_') + 1)),
    record: {
      handedMs,
      firstByteMs,
      requestFields: detail.requestHeaders.flatMap(({ name, value }) => [name, value]),
      responseFields: detail.responseHeaders.flatMap(({ name, value }) => [name, value]),
      requestBody: bodies.of(detail.requestBody, requestText, detail.requestBytes),
      responseBody: bodies.of(detail.responseBody, responseText, detail.responseBytes),
      frames: detail.frames === undefined ? null : framesOf(detail.frames),
    },
  };
}

function targetOf({ upstream: url, provider }: Line['detail']): RecordedRoute['target'] {
  if (provider !== undefined) return { kind: 'provider', provider };
  return url === undefined ? { kind: 'api' } : { kind: 'upstream', url };
}

const framesOf = ({ items, total }: NonNullable<TrafficDetail['frames']>): RecordedFrames => ({
  total,
  newest: items.map(({ kind, text, encoding, ...frame }) => ({
    ...frame,
    opcode: OPCODES.get(kind) ?? RESERVED_OPCODE,
    payload: Buffer.from(text, encoding),
  })),
});

const OPCODES = new Map(Object.entries(FRAME_KINDS).map(([opcode, kind]) => [kind, Number(opcode)]));

/** RFC 6455 §5.2: for frames of the kind "other". */
const RESERVED_OPCODE = 3;

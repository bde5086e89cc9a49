import type { AdjustableClock } from '../../base/clock.ts';
import { titleOf } from '../../breaks/catalogue/index.ts';
import { conflict, invalidRequest, notFound, unavailable, type VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import { SUMMARY_MINUTES_DEFAULT, TRAFFIC_LIST_DEFAULT } from '../../contract/traffic.ts';
import { readFilter, matches } from '../../contract/traffic-filter.ts';
import type { RecordedExchange } from '../../model/exchange-record.ts';
import type { Loopback } from '../../proxy/front/loopback.ts';
import type { InternalTokens } from '../../proxy/identify.ts';
import { keptBytes, toHar } from '../../traffic/har.ts';
import { type Entry, type EntryIds, idOfEntry, MATCHED, runningEntry } from '../../traffic/entry.ts';
import type { Redactor } from '../../traffic/redact.ts';
import type { Recorder } from '../../traffic/recorder.ts';
import { createSearch } from '../../traffic/search.ts';
import { type ReplayBase, type ReplayEdits, replayRefusal, replayRequest } from '../../traffic/replay.ts';
import { type Series, STEP_SECONDS, STEPS } from '../../traffic/series.ts';
import { presentDetail, presentEntry, type Presentation } from '../../traffic/present.ts';
import type { KeyRows, ProjectRows } from '../dependencies.ts';

/** How long a replay's entry may take to appear after its answer, in real time. */
const REPLAY_ENTRY_MS_MAX = 5_000;

/** Body bytes per part of an archive: a part takes a few milliseconds to write and send. */
const PART_BYTES = 512 * 1024;

interface TrafficParts {
  recorder: Recorder;
  series: Pick<Series, 'read'>;
  ids: EntryIds;
  recording: () => boolean;
  running: () => RecordedExchange[];
  clock: Pick<AdjustableClock, 'state'>;
  redactor: () => Redactor;
  keys: Pick<KeyRows, 'get'>;
  projects: Pick<ProjectRows, 'get'>;
  loopback: Loopback;
  internalTokens: Pick<InternalTokens, 'issue'>;
}

export function createTrafficServices(options: TrafficParts): Services['traffic'] {
  const { recorder, ids, keys, projects } = options;
  const nameOf = (keyId: string): string | null => keys.get(keyId)?.name ?? null;

  const presentation = (): Presentation => ({
    ...ids,
    redactor: options.redactor(),
    slugOf: (projectId) => projects.get(projectId)?.slug ?? null,
    titleOf,
  });

  /** `once`: for entries that are all read in a single turn. */
  function fitting(
    { projectId, filter = '' }: { projectId?: string | undefined; filter?: string | undefined } = {},
    { once = false } = {},
  ) {
    const read = readFilter(filter);
    // Unreachable: the contract has validated it.
    if (!read.ok) throw invalidRequest(read.message);
    const idOf = (entry: Entry): string => idOfEntry(entry, ids);
    const context = { ...MATCHED, idOf, nameOf, search: createSearch(options.redactor(), { once }) };
    return (entry: Entry): boolean =>
      (projectId === undefined || entry.route?.projectId === projectId) && matches(entry, read.terms, context);
  }

  function numberOf(id: string): number | null {
    const begun = ids.begunOf(id);
    return begun === null ? ids.numberOf(id) : recorder.numberOf(begun);
  }

  /** The number of an entry that is no longer kept. */
  function known(id: string): number {
    const number = numberOf(id);
    if (number === null) throw missing(id);
    return number;
  }

  const running = (): Entry[] =>
    options.running().flatMap((exchange) => runningEntry(exchange, options.clock.state()) ?? []);

  function existing(id: string): Entry {
    const begun = ids.begunOf(id);
    const unfinished = begun === null ? undefined : running().find((entry) => entry.begun === begun);
    if (unfinished !== undefined) return unfinished;
    const entry = recorder.get(known(id));
    if (entry === null) throw missing(id);
    return entry;
  }

  return {
    list({ limit, before, ...narrowed } = { limit: TRAFFIC_LIST_DEFAULT }) {
      const fits = fitting(narrowed, { once: true });
      const shown = presentation();
      const items: Entry[] = [];
      let next: string | undefined;
      for (const entry of recorder.newestFirst(before === undefined ? undefined : (numberOf(before) ?? 0))) {
        if (!fits(entry)) continue;
        if (items.length === limit) {
          next = ids.idOf((items.at(-1) ?? entry).number);
          break;
        }
        items.push(entry);
      }
      return {
        items: items.map((entry) => presentEntry(entry, shown)),
        kept: recorder.size(),
        dropped: recorder.dropped(narrowed.projectId),
        recording: options.recording(),
        ...(next !== undefined && { next }),
      };
    },
    get: ({ id }) => presentDetail(existing(id), presentation()),
    running(narrowed) {
      const fits = fitting(narrowed);
      const shown = presentation();
      const items = running()
        .filter(fits)
        .toSorted((a, b) => b.realAtMs - a.realAtMs);
      return { items: items.map((entry) => presentEntry(entry, shown)) };
    },
    async *watch(narrowed, { signal }) {
      for await (const { entries, ...told } of recorder.watch(fitting(narrowed), signal)) {
        const shown = presentation();
        const dropped = recorder.dropped(narrowed?.projectId);
        yield { entries: entries.map((entry) => presentEntry(entry, shown)), dropped, ...told };
      }
    },
    summary({ minutes, projectId, since, until } = { minutes: SUMMARY_MINUTES_DEFAULT }) {
      const { realNow } = options.clock.state();
      const endMs = realNow - options.series.read(0).ageMs;
      const stepsTo = (at: string): number =>
        Math.min(STEPS, Math.max(0, Math.round((endMs - Date.parse(at)) / 1_000 / STEP_SECONDS)));
      const skipped = until === undefined ? 0 : stepsTo(until);
      const steps = since === undefined ? (minutes * 60) / STEP_SECONDS : stepsTo(since) - skipped;
      const reading = options.series.read(Math.min(STEPS - skipped, Math.max(0, steps)), projectId, skipped);
      return { ...reading, until: new Date(realNow - reading.ageMs).toISOString() };
    },
    clear: () => ({ cleared: recorder.clear() }),
    async har({ limit, after, ...narrowed } = {}) {
      const part = partOf(recorder.oldestFirst(after === undefined ? 0 : known(after)), fitting(narrowed), limit);
      const log = await toHar(part.entries, options.redactor());
      const last = part.last();
      return { log, ...(last !== null && { next: ids.idOf(last) }) };
    },
    async send({ scheme, hostname, method, target, ...edits }, { signal }) {
      const record = { requestFields: [], requestBody: { chunks: [], bytes: 0 } };
      const base = { scheme, authority: hostname, method, target, record };
      const request = { ...edits, key: edits.keyId ?? null, of: null };
      return presentDetail(await sendAndRecord(base, request, options, signal), presentation());
    },
    async replay({ id, ...edits }, { signal }) {
      const entry = existing(id);
      const refusal = replayRefusal(entry, edits);
      if (refusal !== null) throw conflict(refusal);
      const key = edits.keyId === undefined ? entry.keyId : edits.keyId;
      const request = { ...edits, key, of: entry.number };
      return presentDetail(await sendAndRecord(entry, request, options, signal), presentation());
    },
  };
}

const missing = (id: string): VivariumError =>
  notFound(
    `There is no entry "${id}": it was dropped for newer ones, cleared, or recorded before the last start. List the current ones: \`traffic.list\`.`,
  );

/** Entries of an archive on demand, and whether `limit` or their size cut it short. */
function partOf(entries: Iterable<Entry>, fits: (entry: Entry) => boolean, limit: number | undefined) {
  const taken = { count: 0, bytes: 0, last: 0, isPart: false };
  return {
    last: () => (taken.isPart ? taken.last : null),
    entries: (function* () {
      for (const entry of entries) {
        if (!fits(entry)) continue;
        if (limit !== undefined && (taken.count === limit || taken.bytes >= PART_BYTES)) {
          taken.isPart = true;
          return;
        }
        taken.count += 1;
        taken.bytes += keptBytes(entry);
        taken.last = entry.number;
        yield entry;
      }
    })(),
  };
}

/** Sends a request through the listener, and returns its entry. `key` authenticates it; `of` is the entry that it repeats. */
async function sendAndRecord(
  base: ReplayBase,
  { key: keyId, of, ...edits }: ReplayEdits & { key: string | null; of: number | null },
  { recorder, keys, internalTokens, loopback, redactor }: TrafficParts,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  const key = keyId === null ? null : keys.get(keyId);
  if (keyId !== null && (key === null || key.revokedAtMs !== null)) {
    throw conflict('Can’t replay: the API key of this request is revoked.');
  }
  const internalToken =
    key === null ? null : internalTokens.issue({ keyId: key.id, projectId: key.projectId, prefix: key.prefix });
  const request = replayRequest(base, edits, internalToken?.token ?? null, redactor());
  const since = recorder.next();
  try {
    const { fromPort } = await loopback.send(request, signal);
    const sent = await recorder.from(fromPort, since, REPLAY_ENTRY_MS_MAX);
    if (sent === null) throw unavailable('The request was sent but not recorded: recording is off.');
    if (of !== null) recorder.markReplay(sent, of);
    return sent;
  } finally {
    internalToken?.revoke();
  }
}

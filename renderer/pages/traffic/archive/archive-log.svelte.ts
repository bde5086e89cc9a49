import type { TrafficDetail, TrafficEntry } from '../../../../main/contract/traffic.ts';
import { readFilter, matches, type MatchContext } from '../../../../main/contract/traffic-filter.ts';
import type { RealTime } from '../../../shared/time/real-time.ts';
import type { Archive } from './har-reader.ts';

/** Body characters that are searched between two frames. */
const TURN_CHARACTERS = 2 * 1024 * 1024;

const CONTEXT: MatchContext<TrafficDetail> = {
  nameOf: () => null,
  idOf: ({ id }) => id,
  startedMs: ({ realAt }) => Date.parse(realAt),
  answererOf: ({ answeredBy }) => answeredBy,
  environmentOf: () => undefined,
  isRefused: ({ status }) => status === 429,
  isReplay: () => false,
  isForProvider: ({ provider }) => provider !== undefined,
  search: {
    hasHeader: ({ requestHeaders, responseHeaders }, text) =>
      [...requestHeaders, ...responseHeaders].some(({ name, value }) =>
        `${name}: ${value}`.toLowerCase().includes(text),
      ),
    hasBody: ({ requestBody, responseBody }, text) =>
      [requestBody, responseBody].some((body) => body?.encoding === 'utf8' && body.text.toLowerCase().includes(text)),
  },
};

/** The entries of an opened archive that match a filter. */
export class ArchiveLog {
  readonly archive: Archive;
  entries = $state.raw<readonly TrafficEntry[]>([]);
  #filter = '';
  readonly #time: RealTime;

  constructor(archive: Archive, time: RealTime) {
    this.archive = archive;
    this.entries = archive.entries;
    this.#time = time;
  }

  get(id: string): TrafficDetail | undefined {
    return this.archive.entries.find((entry) => entry.id === id);
  }

  /** Filters in parts, to leave time for other work; the previous entries remain until it is done. */
  async narrow(filter: string): Promise<void> {
    if (filter === this.#filter) return;
    this.#filter = filter;
    const read = readFilter(filter);
    if (!read.ok) return;
    const found: TrafficEntry[] = [];
    let characters = 0;
    for (const entry of this.archive.entries) {
      if (matches(entry, read.terms, CONTEXT)) found.push(entry);
      characters += (entry.requestBody?.text.length ?? 0) + (entry.responseBody?.text.length ?? 0) + 1_000;
      if (characters < TURN_CHARACTERS) continue;
      characters = 0;
      await new Promise<void>((resolve) => void this.#time.realTimer(0, resolve));
      if (this.#filter !== filter) return;
    }
    this.entries = found;
  }
}

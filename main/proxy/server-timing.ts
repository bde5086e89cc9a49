import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { StageName } from '../contract/stages.ts';
import { asHttp1, type HttpResponse } from '../base/http/message.ts';

/** When a request entered each stage. */
export class StageTimes {
  readonly #monotonic: () => number;
  readonly #entered: { stage: StageName; atMs: number }[] = [];

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.enter('listener');
  }

  enter(stage: StageName): void {
    this.#entered.push({ stage, atMs: this.#monotonic() });
  }

  /** The value of `Server-Timing`: how long each stage took so far, in milliseconds with microseconds. */
  text(): string {
    const nowMs = this.#monotonic();
    return this.#entered
      .map(({ stage, atMs }, index) => `${stage};dur=${((this.#entered[index + 1]?.atMs ?? nowMs) - atMs).toFixed(3)}`)
      .join(', ');
  }
}

type Fields = readonly string[] | Record<string, string | readonly string[]>;

/** Adds `Server-Timing` (W3C) to the header section of `response` when it is written, after those of an upstream. */
export function reportTimes(response: HttpResponse, times: StageTimes): void {
  const timed = asHttp1(response);
  const writeHead = timed.writeHead.bind(timed) as (...args: unknown[]) => ServerResponse;
  timed.writeHead = ((status: number, ...rest: unknown[]) => {
    const fields = (typeof rest[0] === 'string' ? rest[1] : rest[0]) as Fields | undefined;
    const reason = typeof rest[0] === 'string' ? [rest[0]] : [];
    return writeHead(status, ...reason, withTimes(fields ?? {}, times.text(), timed.getHeader('server-timing')));
  }) as ServerResponse['writeHead'];
}

const isFlat = (fields: Fields): fields is readonly string[] => Array.isArray(fields);

function withTimes(fields: Fields, text: string, set: OutgoingHttpHeader = []): Fields {
  if (isFlat(fields)) return [...fields, 'Server-Timing', text];
  return { ...fields, 'server-timing': [fields['server-timing'] ?? set, text].flat().map(String) };
}

import { constants } from 'node:http2';
import { gzip } from 'node:zlib';
import { orElse } from '../../contract/errors.ts';
import { asHttp1, isHttp2, withoutFields } from '../../base/http/message.ts';
import { bodyOf } from '../../base/http/answer.ts';
import { changedFields, fieldOf, writeHeldHead, repeatKey, spoilText, endByHand, numberOf } from './held-answer.ts';
import type { HeldAnswer, Breaking, Struck } from './held-answer.ts';
import { cutExchange, resetConnection } from '../front/connection.ts';

/** Writes the head and the first bytes of the body; calls `then` once the system has them. */
function writePart({ exchange }: Struck, answer: HeldAnswer, bytes: number, then: () => void): void {
  const response = asHttp1(exchange.response);
  writeHeldHead(response, answer);
  response.write(answer.body.subarray(0, bytes), () => then());
}

/** Half of a body, at least one byte. */
const halfOf = ({ body }: HeldAnswer): number => Math.ceil(body.length / 2);

/** Writes a body in pieces, with a pause after each. */
function writeSlowly(struck: Struck, answer: HeldAnswer, pieceBytes: number, pauseMs: number): void {
  const { exchange, clock } = struck;
  const response = asHttp1(exchange.response);
  writeHeldHead(response, answer);
  let written = 0;
  const next = (): void => {
    if (response.destroyed) return;
    const piece = answer.body.subarray(written, written + pieceBytes);
    written += piece.length;
    // Progress, for the sweep.
    exchange.record.activeMs = clock.monotonic();
    if (written >= answer.body.length) {
      response.end(piece);
    } else {
      response.write(piece);
      clock.realTimer(pauseMs, next);
    }
  };
  next();
}

const BANDWIDTH_STEPS_PER_SECOND = 20;

const SLICES_MAX = 1_000;

/** Does something in place of the target. */
const instead = (work: (struck: Struck) => void): Breaking => ({
  instead(struck) {
    work(struck);
    return 'answered';
  },
});

/** Changes an answer that has a body. */
const withBody = (work: (struck: Struck, answer: HeldAnswer) => void): Breaking => ({
  afterwards(struck, answer) {
    if (answer.body.length === 0) return false;
    work(struck, answer);
    return true;
  },
});

/** Changes any answer. */
const always = (work: (struck: Struck, answer: HeldAnswer) => void): Breaking => ({
  afterwards(struck, answer) {
    work(struck, answer);
    return true;
  },
});

/** Sends an answer with another body, and the length of that. */
export function sendChanged(
  { exchange }: Struck,
  answer: HeldAnswer,
  body: Buffer,
  more: readonly string[] = [],
): void {
  const response = asHttp1(exchange.response);
  const fields = changedFields(
    answer.fields,
    ['content-length', 'etag', ...more.flatMap((name, index) => (index % 2 === 0 ? [name.toLowerCase()] : []))],
    ['Content-Length', String(body.length), ...more],
  );
  writeHeldHead(response, { ...answer, fields });
  response.end(body);
}

/** The answer in chunks (RFC 9112 §7.1), with additional fields. */
const inChunks = (answer: HeldAnswer, more: readonly string[] = []): HeldAnswer => ({
  ...answer,
  fields: changedFields(
    answer.fields,
    ['content-length', 'transfer-encoding', 'trailer'],
    ['Transfer-Encoding', 'chunked', ...more],
  ),
});

const withLength = (answer: HeldAnswer, length: number): HeldAnswer => ({
  ...answer,
  fields: changedFields(answer.fields, ['content-length', 'transfer-encoding'], ['Content-Length', String(length)]),
});

const GARBAGE_BYTES = 256;

/** Printable characters that do not begin a status line, determined by the fault's number. */
function garbageOf({ fault }: Struck): string {
  let state = Math.floor(fault.draw * 2 ** 32) | 1;
  const next = (): string => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    return String.fromCharCode(0x21 + ((state >>> 16) % 0x5e));
  };
  return Array.from({ length: GARBAGE_BYTES }, next).join('');
}

const isJson = (text: string): boolean => orElse(() => JSON.parse(text) !== undefined, false);

const edited = (edit: (body: Buffer) => Buffer | string | null): Breaking => ({
  afterwards(struck, answer) {
    // An encoded body would have to be decoded first.
    if (fieldOf(answer.fields, 'content-encoding') !== undefined) return false;
    const body = edit(answer.body);
    if (body === null) return false;
    sendChanged(struck, answer, Buffer.from(body));
    return true;
  },
});

export const WIRE_FAULTS: Readonly<Record<string, Breaking>> = {
  'connection.reset-on-accept': instead(({ exchange }) => resetConnection(exchange.connection)),
  'connection.reset-mid-body': withBody((struck, answer) =>
    writePart(struck, answer, halfOf(answer), () => resetConnection(struck.exchange.connection)),
  ),
  'connection.black-hole': instead((struck) => {
    const { exchange, clock } = struck;
    clock.realTimer(numberOf(struck, 'seconds') * 1_000, () => {
      if (exchange.response.destroyed) return;
      // Not the client has ended it.
      exchange.record.byProxy = true;
      cutExchange(exchange);
    });
  }),
  'connection.slow-close': always((struck, { body, fields, ...answer }) => {
    const { exchange, clock } = struck;
    const response = asHttp1(exchange.response);
    writeHeldHead(response, { ...answer, fields: changedFields(fields, ['content-length']) });
    if (body.length === 0) response.flushHeaders();
    else response.write(body);
    clock.realTimer(numberOf(struck, 'delayMs'), () => {
      if (!response.destroyed) response.end();
    });
  }),
  'connection.half-close': withBody((struck, answer) =>
    writePart(struck, answer, halfOf(answer), () => endByHand(struck, '')),
  ),
  'connection.bandwidth': always((struck, answer) => {
    const bytes = Math.ceil(numberOf(struck, 'bytesPerSecond') / BANDWIDTH_STEPS_PER_SECOND);
    writeSlowly(struck, answer, bytes, 1_000 / BANDWIDTH_STEPS_PER_SECOND);
  }),
  'connection.slicer': always((struck, answer) => {
    const bytes = Math.max(numberOf(struck, 'bytes'), Math.ceil(answer.body.length / SLICES_MAX));
    writeSlowly(struck, answer, bytes, numberOf(struck, 'delayMs'));
  }),
  'connection.cut-after': {
    afterwards(struck, answer) {
      const { request, connection } = struck.exchange;
      const bytes = numberOf(struck, 'bytes');
      if (answer.body.length <= bytes) return false;
      writePart(struck, answer, bytes, () => {
        if (isHttp2(request)) request.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
        else connection.http1?.destroySoon();
      });
      return true;
    },
  },
  'http.status': instead((struck) => {
    const status = numberOf(struck, 'status');
    const { body, header } = struck.fault.parameters;
    const [name = '', value = ''] = String(header).split(/:[ \t]*(.*)/, 2);
    const given = name === '' ? [] : [name, value];
    const text = bodyOf(status === 205 ? '' : String(body));
    const type =
      text.text === '' ? [] : ['Content-Type', isJson(text.text) ? 'application/json' : 'text/plain; charset=utf-8'];
    // RFC 9110 §8.6, §15.4.5: no length.
    const isBodiless = status === 204 || status === 304;
    const own = isBodiless ? [] : [...type, 'Content-Length', text.length];
    // Without it, a client could keep the answer for longer than the break runs.
    const fields = ['Cache-Control', 'no-store', ...own];
    const headers = [...withoutFields(fields, (each) => each === name.toLowerCase()), ...given];
    struck.answer({ status, headers, body: isBodiless ? null : text, close: false });
  }),
  'http.empty-response': instead((struck) => endByHand(struck, '')),
  'http.malformed-chunk': withBody((struck, answer) =>
    writePart(struck, inChunks(answer), halfOf(answer), () => endByHand(struck, 'no length\r\n')),
  ),
  'http.content-length-too-long': withBody((struck, answer) => {
    const { request, response, connection } = struck.exchange;
    if (!isHttp2(request)) response.once('finish', () => connection.http1?.destroySoon());
    writeHeldHead(response, withLength(answer, answer.body.length + numberOf(struck, 'bytes')));
    asHttp1(response).end(answer.body);
  }),
  'http.content-length-too-short': {
    afterwards(struck, answer) {
      const { response } = struck.exchange;
      const length = answer.body.length - numberOf(struck, 'bytes');
      if (length < 0) return false;
      writeHeldHead(response, withLength(answer, length));
      asHttp1(response).end(answer.body);
      return true;
    },
  },
  'http.garbage-then-close': instead((struck) => endByHand(struck, garbageOf(struck))),
  'http.gzip-cut-short': withBody((struck, answer) => {
    const sendHalf = (coded: Buffer, more: readonly string[]): void =>
      sendChanged(struck, answer, coded.subarray(0, Math.ceil(coded.length / 2)), more);
    if (fieldOf(answer.fields, 'content-encoding') !== undefined) return sendHalf(answer.body, []);
    gzip(answer.body, (error, coded) => {
      if (error === null) sendHalf(coded, ['Content-Encoding', 'gzip']);
      else struck.exchange.response.destroy();
    });
  }),
  'http.wrong-content-type': withBody((struck, answer) =>
    sendChanged(struck, answer, answer.body, ['Content-Type', String(struck.fault.parameters.type)]),
  ),
  'http.invalid-utf8': edited(spoilText),
  'http.duplicate-json-keys': edited((body) => repeatKey(body.toString())),
  'http.header-too-large': always((struck, answer) => {
    const padding = 'x'.repeat(numberOf(struck, 'kilobytes') * 1024);
    sendChanged(struck, answer, answer.body, ['X-Vivarium-Padding', padding]);
  }),
  'http.early-hints-flood': {
    instead(struck) {
      const response = asHttp1(struck.exchange.response);
      for (let sent = 0; sent < numberOf(struck, 'count'); sent++)
        response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
      return 'passes';
    },
  },
  'http.broken-trailers': withBody((struck, answer) => {
    const trailing = inChunks(answer, ['Trailer', 'X-Checksum']);
    writePart(struck, trailing, answer.body.length, () => endByHand(struck, '0\r\nX-Checksum\r\n\r\n'));
  }),
  'http.redirect-loop': instead(({ exchange, origin, answer }) => {
    const location = `${origin}${exchange.request.url ?? '/'}`;
    const body = bodyOf('');
    answer({ status: 302, headers: ['Location', location, 'Content-Length', body.length], body, close: false });
  }),
  'http.goaway-mid-stream': {
    afterwards(struck, answer) {
      const { request } = struck.exchange;
      if (!isHttp2(request) || answer.body.length === 0) return false;
      const { session } = request.stream;
      writePart(struck, answer, halfOf(answer), () => {
        session?.goaway(constants.NGHTTP2_INTERNAL_ERROR);
        session?.destroy();
      });
      return true;
    },
  },
  'http.refused-stream': {
    instead({ exchange: { request } }) {
      if (!isHttp2(request)) return 'unfit';
      request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return 'answered';
    },
  },
  'http.one-stream': {
    instead({ exchange: { request, connection } }) {
      // A limit in SETTINGS would outlast the break.
      if (!isHttp2(request) || connection.exchanges.length === 1) return 'unfit';
      request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return 'answered';
    },
  },
};

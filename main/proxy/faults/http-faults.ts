import { constants } from 'node:http2';
import { gzip } from 'node:zlib';
import { asHttp1, isHttp2 } from '../../base/http/message.ts';
import { bodyOf } from '../../base/http/answer.ts';
import { halfOf, writePart } from './connection-faults.ts';
import { changedFields, fieldOf, type HeldAnswer, writeHeldHead, repeatKey, spoilText } from './held-answer.ts';
import { type Breaking, endByHand, numberOf, type Struck } from './struck.ts';

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

export const HTTP_FAULTS: Readonly<Record<string, Breaking>> = {
  'http.empty-response': {
    instead(struck) {
      endByHand(struck, '');
      return 'answered';
    },
  },
  'http.malformed-chunk': {
    afterwards(struck, answer) {
      if (answer.body.length === 0) return false;
      writePart(struck, inChunks(answer), halfOf(answer), () => endByHand(struck, 'no length\r\n'));
      return true;
    },
  },
  'http.content-length-too-long': {
    afterwards(struck, answer) {
      const { request, response, connection } = struck.exchange;
      if (answer.body.length === 0) return false;
      const missing = numberOf(struck, 'bytes');
      if (!isHttp2(request)) response.once('finish', () => connection.http1?.destroySoon());
      writeHeldHead(response, withLength(answer, answer.body.length + missing));
      asHttp1(response).end(answer.body);
      return true;
    },
  },
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
  'http.garbage-then-close': {
    instead(struck) {
      endByHand(struck, garbageOf(struck));
      return 'answered';
    },
  },
  'http.gzip-cut-short': {
    afterwards(struck, answer) {
      if (answer.body.length === 0) return false;
      const sendHalf = (coded: Buffer, more: readonly string[]): void =>
        sendChanged(struck, answer, coded.subarray(0, Math.ceil(coded.length / 2)), more);
      if (fieldOf(answer.fields, 'content-encoding') !== undefined) {
        sendHalf(answer.body, []);
        return true;
      }
      gzip(answer.body, (error, coded) => {
        if (error === null) sendHalf(coded, ['Content-Encoding', 'gzip']);
        else struck.exchange.response.destroy();
      });
      return true;
    },
  },
  'http.wrong-content-type': {
    afterwards(struck, answer) {
      if (answer.body.length === 0) return false;
      sendChanged(struck, answer, answer.body, ['Content-Type', String(struck.fault.parameters.type)]);
      return true;
    },
  },
  'http.invalid-utf8': edited(spoilText),
  'http.duplicate-json-keys': edited((body) => repeatKey(body.toString())),
  'http.header-too-large': {
    afterwards(struck, answer) {
      const padding = 'x'.repeat(numberOf(struck, 'kilobytes') * 1024);
      sendChanged(struck, answer, answer.body, ['X-Vivarium-Padding', padding]);
      return true;
    },
  },
  'http.early-hints-flood': {
    instead(struck) {
      const response = asHttp1(struck.exchange.response);
      for (let sent = 0; sent < numberOf(struck, 'count'); sent++)
        response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
      return 'passes';
    },
  },
  'http.broken-trailers': {
    afterwards(struck, answer) {
      if (answer.body.length === 0) return false;
      const trailing = inChunks(answer, ['Trailer', 'X-Checksum']);
      writePart(struck, trailing, answer.body.length, () => endByHand(struck, '0\r\nX-Checksum\r\n\r\n'));
      return true;
    },
  },
  'http.redirect-loop': {
    instead(struck) {
      const { exchange, origin, answer } = struck;
      const location = `${origin}${exchange.request.url ?? '/'}`;
      const body = bodyOf('');
      answer({ status: 302, headers: ['Location', location, 'Content-Length', body.length], body, close: false });
      return 'answered';
    },
  },
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

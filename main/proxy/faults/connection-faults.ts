import { constants } from 'node:http2';
import { asHttp1, isHttp2 } from '../../base/http/message.ts';
import { cutExchange, resetConnection } from '../front/connection.ts';
import { changedFields, type HeldAnswer, writeHeldHead } from './held-answer.ts';
import { type Breaking, endByHand, numberOf, type Struck } from './struck.ts';

/** Writes the head and the first bytes of the body; calls `then` once the system has them. */
export function writePart({ exchange }: Struck, answer: HeldAnswer, bytes: number, then: () => void): void {
  const response = asHttp1(exchange.response);
  writeHeldHead(response, answer);
  response.write(answer.body.subarray(0, bytes), () => then());
}

/** Half of a body, at least one byte. */
export const halfOf = ({ body }: HeldAnswer): number => Math.ceil(body.length / 2);

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

/** Maximum slices of a body. */
const SLICES_MAX = 1_000;

const hasBody = ({ body }: HeldAnswer): boolean => body.length > 0;

export const CONNECTION_FAULTS: Readonly<Record<string, Breaking>> = {
  'connection.reset-on-accept': {
    instead({ exchange }) {
      resetConnection(exchange.connection);
      return 'answered';
    },
  },
  'connection.reset-mid-body': {
    afterwards(struck, answer) {
      if (!hasBody(answer)) return false;
      writePart(struck, answer, halfOf(answer), () => resetConnection(struck.exchange.connection));
      return true;
    },
  },
  'connection.black-hole': {
    instead(struck) {
      const { exchange, clock } = struck;
      clock.realTimer(numberOf(struck, 'seconds') * 1_000, () => {
        if (!exchange.response.destroyed) cutExchange(exchange);
      });
      return 'answered';
    },
  },
  'connection.slow-close': {
    afterwards(struck, { body, fields, ...answer }) {
      const { exchange, clock } = struck;
      const response = asHttp1(exchange.response);
      writeHeldHead(response, { ...answer, fields: changedFields(fields, ['content-length']) });
      if (body.length === 0) response.flushHeaders();
      else response.write(body);
      clock.realTimer(numberOf(struck, 'delayMs'), () => {
        if (!response.destroyed) response.end();
      });
      return true;
    },
  },
  'connection.half-close': {
    afterwards(struck, answer) {
      if (!hasBody(answer)) return false;
      writePart(struck, answer, halfOf(answer), () => endByHand(struck, ''));
      return true;
    },
  },
  'connection.bandwidth': {
    afterwards(struck, answer) {
      const bytes = Math.ceil(numberOf(struck, 'bytesPerSecond') / BANDWIDTH_STEPS_PER_SECOND);
      writeSlowly(struck, answer, bytes, 1_000 / BANDWIDTH_STEPS_PER_SECOND);
      return true;
    },
  },
  'connection.slicer': {
    afterwards(struck, answer) {
      const bytes = Math.max(numberOf(struck, 'bytes'), Math.ceil(answer.body.length / SLICES_MAX));
      writeSlowly(struck, answer, bytes, numberOf(struck, 'delayMs'));
      return true;
    },
  },
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
};

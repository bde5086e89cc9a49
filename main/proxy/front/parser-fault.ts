import { rawResponse } from '../../base/http/answer.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import { ERROR_CATALOGUE } from '../../contract/errors.ts';
import { errorText, type Problem } from '../../model/problem.ts';
import type { ProxyLimits } from './proxy-limits.ts';

/** An error from Node's HTTP/1.x parser. */
export interface ParserError extends Error {
  code?: string;
  reason?: string;
  /** The chunk that failed to parse. */
  rawPacket?: Uint8Array;
}

const FRAMING = 'Send exactly one Content-Length, or Transfer-Encoding: chunked alone.';

/** Keyed by the parser's reason, where one code covers faults with different remedies. */
const BY_REASON: Record<string, string> = {
  'Expected CRLF after version': 'The request line does not end with CR LF.',
  'Duplicate Content-Length': `The request has more than one Content-Length. ${FRAMING}`,
  "Transfer-Encoding can't be present with Content-Length": `The request has both Content-Length and Transfer-Encoding. ${FRAMING}`,
  "Content-Length can't be present with Transfer-Encoding": `The request has both Content-Length and Transfer-Encoding. ${FRAMING}`,
  'Unexpected whitespace after header value':
    'A header field is folded over several lines (obs-fold). Put it on one line.',
  'Chunk size overflow': 'The size of a chunk exceeds the limit. Send smaller chunks.',
};

const BY_CODE: Record<string, string> = {
  HPE_INVALID_METHOD: 'The request does not begin with a known method. Methods are upper case.',
  HPE_INVALID_URL:
    'The request target is neither a path that begins with a slash nor an http or https URL, or it contains a character that must be percent-encoded.',
  HPE_INVALID_CONSTANT:
    'The request line is not "METHOD target HTTP/1.1"; spaces in the target must be percent-encoded.',
  HPE_INVALID_VERSION: 'The HTTP version of the request line is neither HTTP/1.1 nor HTTP/1.0.',
  HPE_PAUSED_H2_UPGRADE: 'HTTP/2 is available only over HTTPS, negotiated by ALPN.',
  HPE_CR_EXPECTED: 'A line ends with a bare LF. End it with CR LF.',
  HPE_LF_EXPECTED: 'A line contains a CR without an LF after it. End it with CR LF.',
  HPE_UNEXPECTED_SPACE: 'The line after the request line begins with a space.',
  HPE_INVALID_HEADER_TOKEN:
    'A header field contains a character that is not allowed, or has no colon directly after its name.',
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length is not a valid decimal number.',
  HPE_UNEXPECTED_CONTENT_LENGTH: `Content-Length is not allowed there. ${FRAMING}`,
  HPE_INVALID_TRANSFER_ENCODING: `Transfer-Encoding is not exactly chunked. ${FRAMING}`,
  HPE_INVALID_CHUNK_SIZE: 'The size of a chunk is not a plain hexadecimal number.',
  HPE_INVALID_EOF_STATE: 'The connection was closed before the request was complete.',
};

/** A one-line explanation and a status. */
export interface ParserFault {
  code: ErrorCode;
  status: number;
  message: string;
}

const fault = (code: ErrorCode, message: string): ParserFault => ({
  code,
  status: ERROR_CATALOGUE[code].status,
  message,
});

/** Explains `error` to the client. */
export function explainParserError(error: ParserError, limits: ProxyLimits): ParserFault {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return fault(
        'request_timeout',
        `The request was not complete in time: the limit is ${limits.headersTimeoutMs / 1000} s for its header section and ${limits.requestTimeoutMs / 1000} s in total. Send it again.`,
      );
    case 'HPE_HEADER_OVERFLOW':
      return isTargetTooLong(error.rawPacket, limits.targetLengthMax)
        ? fault(
            'uri_too_long',
            `The request target has more than ${limits.targetLengthMax} characters. Shorten it, or send the data in a body.`,
          )
        : fault(
            'header_fields_too_large',
            `The request line and header section have more than ${limits.headerBytesMax} bytes. Send fewer or shorter fields.`,
          );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return fault('payload_too_large', 'The chunk extensions exceed the limit. Leave them out.');
    default:
      return fault(
        'invalid_request',
        BY_REASON[error.reason ?? ''] ?? BY_CODE[error.code ?? ''] ?? 'The bytes received are not an HTTP/1.1 request.',
      );
  }
}

/**
 * The parser counts the target as part of the header section; only the length of the first line distinguishes the two.
 */
function isTargetTooLong(packet: Uint8Array | undefined, targetLengthMax: number): boolean {
  return (
    packet !== undefined &&
    packet.length > targetLengthMax &&
    /^[A-Z]+ \S+$/.test(Buffer.from(packet.subarray(0, targetLengthMax)).toString('latin1'))
  );
}

/** Matches a TLS handshake or alert record: the client speaks HTTPS to the HTTP port. */
export function looksLikeTls(firstBytes: Uint8Array | undefined): boolean {
  return firstBytes !== undefined && (firstBytes[0] === 0x16 || firstBytes[0] === 0x15) && firstBytes[1] === 0x03;
}

/** `fault` as a complete response that closes the connection. */
export const faultResponse = (fault: ParserFault & Partial<Pick<Problem, 'headers'>>): string =>
  rawResponse(fault.status, fault.headers ?? [], errorText(fault));

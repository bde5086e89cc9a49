import type { BreakEntry } from '../../contract/breaks.ts';
import { endedAfter, entryOf, everywhere, OF_REQUEST } from './entry.ts';

const entry = entryOf('http', OF_REQUEST);

/** Faults in HTTP framing and content. */
export const HTTP_ENTRIES: readonly BreakEntry[] = [
  entry('latency', {
    title: 'Late answer',
    cause:
      'A distant region, a cold start or a busy database. The request waits before it reaches the target; other breaks ' +
      'strike after the wait.',
    symptoms: everywhere('200'),
    remedy: 'Set a timeout that fits the slowest good answer, and show that something is under way.',
    at: 'delay',
    parameters: [
      { name: 'delayMs', description: 'delay, in milliseconds', default: 2_000, min: 0, max: 600_000 },
      {
        name: 'jitterMs',
        description: 'random extra delay (jitter), in milliseconds',
        default: 0,
        min: 0,
        max: 600_000,
      },
    ],
  }),
  entry('status', {
    title: 'Status of your choice',
    cause: 'The server fails or refuses, or a proxy does so in its place. The target is not asked.',
    symptoms: everywhere('500'),
    remedy: 'Retry 502, 503 and 504; retry 500 only if the request may be repeated. Show any other error.',
    parameters: [
      { name: 'status', description: 'the status', default: 500, min: 200, max: 599 },
      { name: 'body', description: 'the body, as JSON or text', default: '' },
      { name: 'header', description: 'one header field, such as "Retry-After: 3"', default: '', form: 'field' },
    ],
  }),
  entry('empty-response', {
    title: 'Connection closed without an answer',
    cause:
      'The server accepts the request and closes the connection: it crashed, or its keep-alive time ended at that moment.',
    symptoms: {
      curl: 'curl: (52) Empty reply from server',
      node: 'fetch: fetch failed: UND_ERR_SOCKET other side closed; http: ECONNRESET socket hang up',
      python: 'RemoteDisconnected: Remote end closed connection without response',
      go: 'Get "URL": EOF',
    },
    remedy: 'Retry requests that may be repeated; keep idle connections for a shorter time than the server does.',
    http: 'HTTP/1.1',
  }),
  entry('malformed-chunk', {
    title: 'Malformed chunk',
    cause: 'The second chunk of a chunked body (RFC 9112 §7.1) has no length: something wrote into the connection.',
    symptoms: {
      curl: 'curl: (56) Illegal or missing hexadecimal sequence in chunked-encoding',
      node: 'fetch: terminated: Response does not match the HTTP/1.1 protocol (Invalid character in chunk size); http: HPE_INVALID_CHUNK_SIZE Parse Error: Invalid character in chunk size',
      python: 'IncompleteRead: IncompleteRead(66 bytes read)',
      go: 'invalid byte in chunk length',
    },
    remedy: 'Treat it as a failed transfer; look for a proxy or a server that bypasses its HTTP library.',
    http: 'HTTP/1.1',
  }),
  entry('content-length-too-long', {
    title: 'Content-Length too long',
    cause: 'The length is greater than that of the body: it was computed before the body was changed.',
    symptoms: endedAfter(131, 10),
    remedy: 'Treat the answer as incomplete; on the server, compute the length from the bytes that are sent.',
    parameters: [{ name: 'bytes', description: 'bytes that are missing', default: 10, min: 1, max: 1_000_000 }],
  }),
  entry('content-length-too-short', {
    title: 'Content-Length too short',
    cause: 'The length counts characters instead of bytes, so the end of the body is cut off.',
    symptoms: {
      curl: '200',
      node: 'fetch: Unterminated string in JSON at position 121 (line 1 column 122); http: HPE_CLOSED_CONNECTION Parse Error: Data after `Connection: close`',
      python: 'JSONDecodeError: Unterminated string starting at: line 1 column 119 (char 118)',
      go: 'unexpected end of JSON input',
    },
    remedy: 'Count bytes, not characters. The client receives truncated JSON and may close the connection.',
    parameters: [{ name: 'bytes', description: 'bytes beyond the length', default: 10, min: 1, max: 1_000_000 }],
  }),
  entry('garbage-then-close', {
    title: 'Garbage in place of an answer',
    cause: 'Something other than HTTP answers at the port, such as another protocol or a broken proxy.',
    symptoms: {
      curl: 'curl: (1) Received HTTP/0.9 when not allowed',
      node: 'fetch: fetch failed: Response does not match the HTTP/1.1 protocol (Expected HTTP/, RTSP/ or ICE/); http: HPE_INVALID_CONSTANT Parse Error: Expected HTTP/, RTSP/ or ICE/',
      python: 'BadStatusLine: …',
      go: 'Get "URL": net/http: HTTP/1.x transport connection broken: malformed HTTP response …',
    },
    remedy: 'Check which service listens at the port and which scheme it speaks.',
    http: 'HTTP/1.1',
  }),
  entry('gzip-cut-short', {
    title: 'gzip cut short',
    cause: 'A compressed body ends early, with a matching Content-Length: a cache stored half of it.',
    symptoms: {
      curl: '200',
      node: "fetch: Expected ',' or '}' after property value in JSON at position 43 (line 1 column 44); http: Unexpected token '…', \"…\"... is not valid JSON",
      python: "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1: invalid start byte",
      go: 'unexpected EOF',
    },
    remedy: 'Treat a decompression error as a failed transfer; purge the cache.',
  }),
  entry('wrong-content-type', {
    title: 'Wrong Content-Type',
    cause: 'JSON is declared as something else, as when a server serves it from a file.',
    symptoms: everywhere('200'),
    remedy: 'Check Content-Type before parsing, and include the received type in the error.',
    parameters: [{ name: 'type', description: 'the media type', default: 'text/html; charset=utf-8' }],
  }),
  entry('invalid-utf8', {
    title: 'Text that is not UTF-8',
    cause: 'Text in another encoding was copied into JSON without conversion.',
    symptoms: {
      curl: '200, a name with a wrong character',
      node: '200, a name with a wrong character',
      python: "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xc3 in position 128: invalid continuation byte",
      go: '200, a name with a wrong character',
    },
    remedy: 'Decode strictly where correct text matters: many clients silently replace invalid bytes.',
  }),
  entry('duplicate-json-keys', {
    title: 'Duplicate JSON name',
    cause: 'An object repeats a name, with null: two programs each wrote a part of it.',
    symptoms: everywhere('200, the id is null'),
    remedy: 'Validate the parsed object: most parsers keep the last value, some the first, few refuse.',
  }),
  entry('header-too-large', {
    title: 'Header section too large',
    cause: 'Cookies or debugging headers grew beyond the client’s limit.',
    symptoms: {
      curl: 'curl: (27) Out of memory',
      node: 'fetch: fetch failed: UND_ERR_HEADERS_OVERFLOW Headers Overflow Error; http: HPE_HEADER_OVERFLOW Parse Error: Header overflow',
      python: 'LineTooLong: got more than 65536 bytes when reading header line',
      go: '200',
    },
    remedy: 'Raise the client’s limit, such as Node’s --max-http-header-size, or shorten the headers.',
    http: 'HTTP/1.1',
    parameters: [{ name: 'kilobytes', description: 'KiB of the added field', default: 320, min: 1, max: 2_048 }],
  }),
  entry('early-hints-flood', {
    title: 'A hundred times 103',
    cause: 'Many interim responses (103 Early Hints) precede the final one.',
    symptoms: {
      curl: '200',
      node: '200',
      python: 'HTTPError: HTTP Error 103: Early Hints',
      go: 'Get "URL": net/http: HTTP/1.x transport connection broken: net/http: too many 1xx informational responses',
    },
    remedy: 'Read past interim responses (RFC 9110 §15.2), up to a limit.',
    parameters: [{ name: 'count', description: 'interim responses', default: 100, min: 1, max: 1_000 }],
  }),
  entry('broken-trailers', {
    title: 'Broken trailers',
    cause: 'The last chunk is followed by a trailer line without a colon (RFC 9112 §7.1.2).',
    symptoms: {
      curl: 'curl: (43) Failed reading the chunked-encoded stream',
      node: 'fetch: terminated: Response does not match the HTTP/1.1 protocol (Invalid header token); http: HPE_INVALID_HEADER_TOKEN Parse Error: Invalid header token',
      python: '200',
      go: 'malformed MIME header: missing colon: "X-Checksum"',
    },
    remedy: 'Treat it as a failed transfer, although the body was complete.',
    http: 'HTTP/1.1',
  }),
  entry('redirect-loop', {
    title: 'Redirect loop',
    cause: 'A URL redirects to itself, as when a proxy terminates TLS and the server behind it requires HTTPS.',
    symptoms: {
      curl: 'curl: (47) Maximum (50) redirects followed',
      node: 'fetch: fetch failed: redirect count exceeded; http: 302',
      python:
        'HTTPError: HTTP Error 302: The HTTP server returned a redirect error that would lead to an infinite loop.',
      go: 'Get "URL": stopped after 10 redirects',
    },
    remedy: 'Limit redirects and report the repeated URL; have the proxy forward X-Forwarded-Proto.',
  }),
  entry('goaway-mid-stream', {
    title: 'GOAWAY in the middle of a stream',
    cause: 'A restarting server ends its HTTP/2 connection during an answer; the request may have been processed.',
    symptoms: {
      curl: 'curl: (18) HTTP/2 stream 1 was not closed cleanly before end of the underlying stream',
      node: 'ERR_HTTP2_SESSION_ERROR Session closed with error code 2',
      go: 'http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=INTERNAL_ERROR, debug=""',
    },
    remedy: 'Retry requests that may be repeated on a new connection (RFC 9113 §6.8).',
    http: 'HTTP/2',
  }),
  entry('refused-stream', {
    title: 'Stream refused',
    cause: 'An overloaded HTTP/2 server refuses a request before processing it (REFUSED_STREAM).',
    symptoms: {
      curl: 'curl: (56) Connection died, tried 5 times before giving up',
      node: 'ERR_HTTP2_STREAM_ERROR Stream closed with error code NGHTTP2_REFUSED_STREAM',
      go: 'Get "URL": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    },
    remedy: 'Retry any method: nothing was processed (RFC 9113 §8.7).',
    http: 'HTTP/2',
  }),
  entry('one-stream', {
    title: 'One stream at a time',
    cause: 'A server accepts one request at a time on an HTTP/2 connection, and refuses concurrent ones.',
    symptoms: { node: 'ERR_HTTP2_STREAM_ERROR Stream closed with error code NGHTTP2_REFUSED_STREAM' },
    remedy: 'Retry refused streams after another has ended, or open more connections.',
    http: 'HTTP/2',
  }),
];

import { maxHeaderSize } from 'node:http';
import type { Problem } from '../../model/problem.ts';
import * as problem from '../problem.ts';

/** A failed attempt to reach an upstream, as explained to the client. */
export interface UpstreamFault {
  /** Node's error code, such as ECONNREFUSED; empty if it has none. */
  code: string;
  message: string;
  /** Whether it was aborted because of a stall. */
  timedOut: boolean;
  /** Whether it was aborted because of too many interim responses (1xx). */
  flooded?: boolean;
}

/** Prefixes of Node's codes for rejected certificates. */
const CERTIFICATE_CODES =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

const TIMEOUT_CODES: ReadonlySet<string> = new Set(['ETIMEDOUT', 'ECONNECT_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/** The code of an upstream that speaks HTTP/2 where HTTP/1.1 was expected, or the reverse. */
export const OTHER_VERSION = 'OTHER_VERSION';

/** What happened to an upstream and how to fix it, in one or more sentences each. */
export interface UpstreamDiagnosis {
  status: 502 | 504;
  what: string;
  remedy: string;
}

/** The answer for a request whose upstream at `url` failed: which upstream, what happened, and a remedy. */
export function explainUpstreamFault(url: string, fault: UpstreamFault, answerMs: number): Problem {
  const { status, what, remedy } = describeUpstreamFault(url, fault, answerMs);
  return status === 504 ? problem.gatewayTimeout(`${what} ${remedy}`) : problem.badGateway(`${what} ${remedy}`);
}

export function describeUpstreamFault(
  url: string,
  { code, message, timedOut, flooded = false }: UpstreamFault,
  answerMs: number,
): UpstreamDiagnosis {
  const origin = new URL(url).origin;
  if (TIMEOUT_CODES.has(code)) {
    return {
      status: 504,
      what: `The upstream ${origin} did not accept a connection in time.`,
      remedy: 'Check that it is running and responsive, then retry.',
    };
  }
  if (timedOut) {
    return {
      status: 504,
      what: `The upstream ${origin} accepted the request but did not start to answer within ${answerMs / 1000} s.`,
      remedy: 'Check what it is busy with, then retry.',
    };
  }
  const failed = (what: string, remedy: string): UpstreamDiagnosis => ({ status: 502, what, remedy });
  if (flooded) {
    return failed(
      `The upstream ${origin} sent too many interim responses (1xx) and no final one.`,
      'See its log for the reason.',
    );
  }
  if (code === 'ECONNREFUSED') {
    return failed(
      `Nothing is listening at ${new URL(url).host}.`,
      'Start your server there, or correct the project’s target.',
    );
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return failed(
      `This machine cannot resolve the host of the upstream ${origin}.`,
      'Correct the project’s target, or use an address such as 127.0.0.1.',
    );
  }
  if (CERTIFICATE_CODES.test(code)) {
    return failed(
      `The certificate of the upstream ${origin} is not trusted (${stripNodeAdvice(message)}).`,
      'Install a trusted one there, or set verifyCertificate to false in the project’s target.',
    );
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return failed(
      `The upstream ${origin} does not speak TLS as expected.`,
      'If it serves plain HTTP, start the target with http://.',
    );
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return failed(
      `Vivarium could not connect to the upstream ${origin}: ${code === 'EMFILE' ? 'its process' : 'this machine'} has no file descriptor left.`,
      'Close connections, or raise the limit on open files (ulimit -n) and restart Vivarium.',
    );
  }
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return failed(
      `The upstream ${origin} sent a header section longer than ${maxHeaderSize} bytes.`,
      'Make it send fewer or shorter fields.',
    );
  }
  if (code === OTHER_VERSION) {
    return failed(
      `The upstream ${origin} speaks another version of HTTP than expected.`,
      'Retry: from now on, Vivarium speaks that version too.',
    );
  }
  if (code.startsWith('ERR_HTTP2_')) {
    return failed(
      `The upstream ${origin} broke off over HTTP/2 (${message}).`,
      'See its log for the reason, then retry.',
    );
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return failed(
      `The upstream ${origin} did not send a valid HTTP/1.1 response: a second Content-Length, or one beside Transfer-Encoding.`,
      'Correct its response.',
    );
  }
  if (code.startsWith('HPE_')) {
    // A TLS server's response is invalid from its first byte on.
    const fault = faultIn(message);
    const hint = fault.startsWith('Expected HTTP/') ? mayBeTls(url) : '';
    return failed(
      `The upstream ${origin} did not send a valid HTTP/1.1 response: ${fault}.`,
      `${hint}Correct its response.`,
    );
  }
  const unasked = code === 'UND_ERR_SOCKET' ? UNASKED[message] : undefined;
  if (unasked !== undefined) {
    return failed(`The upstream ${origin} ${unasked} without being asked to.`, 'Correct its response.');
  }
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') {
    return failed(
      `The upstream ${origin} closed the connection before answering.`,
      `${mayBeTls(url)}See its log for the reason, then retry.`,
    );
  }
  return failed(
    `The upstream ${origin} could not be reached (${message || code}).`,
    'Check that it is running, or correct the project’s target.',
  );
}

/** Undici's messages about interim responses that it cannot handle. */
const UNASKED: Record<string, string> = {
  'bad upgrade': 'switched protocols (101)',
  'bad response': 'sent 100 (Continue)',
};

/** The fault in a parser's message: Node's or undici's. */
const faultIn = (message: string): string =>
  /^Response does not match the HTTP\/1\.1 protocol \((.*)\)$/.exec(message)?.[1] ??
  message.replace(/^Parse Error: /, '');

/** A TLS server answers plain HTTP with an alert, or not at all. */
const mayBeTls = (url: string): string =>
  url.startsWith('https:') ? '' : 'If it speaks HTTPS, start the target with https://. ';

/** Node's advice is about command-line options of Node. */
const stripNodeAdvice = (message: string): string => message.replace(/; if the root CA is installed locally.*$/, '');

/**
 * The code of an error, HPE_INVALID for those of undici's parser, which have none, or, for an AggregateError of several
 * attempts (RFC 8305), of the first.
 */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if ('name' in error && error.name === 'HTTPParserError') return 'HPE_INVALID';
  return error instanceof AggregateError ? codeOf(error.errors[0]) : '';
}

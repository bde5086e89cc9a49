import { maxHeaderSize } from 'node:http';
import type { Problem } from '../../model/problem.ts';
import * as problem from '../problem.ts';

/** What became of an attempt to reach an upstream, as far as the client is told. */
export interface UpstreamFault {
  /** Node's code of the error, such as ECONNREFUSED; empty when it has none. */
  code: string;
  message: string;
  /** Whether it was given up because nothing came for too long. */
  timedOut: boolean;
  /** Whether it was given up because it announced its answer again and again (1xx). */
  flooded?: boolean;
}

/** Node's codes of what a certificate can be refused for begin like this. */
const CERTIFICATE_CODES =
  /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

const TIMEOUT_CODES: ReadonlySet<string> = new Set(['ETIMEDOUT', 'ECONNECT_TIMEOUT', 'ESOCKETTIMEDOUT']);

/** What happened to an upstream, and what to do about it; each a sentence or more. */
export interface UpstreamDiagnosis {
  status: 502 | 504;
  what: string;
  remedy: string;
}

/** The answer for a request whose upstream at `url` failed: which upstream, what happened, what to do. */
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
      remedy: 'See whether it runs and is not stuck, then ask again.',
    };
  }
  if (timedOut) {
    return {
      status: 504,
      what: `The upstream ${origin} accepted the request and did not begin to answer for ${answerMs / 1000} s.`,
      remedy: 'See what it is busy with, then ask again.',
    };
  }
  const failed = (what: string, remedy: string): UpstreamDiagnosis => ({ status: 502, what, remedy });
  if (flooded) {
    return failed(
      `The upstream ${origin} sent one interim response (1xx) after the other and no answer.`,
      'Its log may say why.',
    );
  }
  if (code === 'ECONNREFUSED') {
    return failed(
      `Nothing listens at the upstream ${origin}.`,
      'Start your server there, or correct the project’s target.',
    );
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return failed(
      `The host of the upstream ${origin} is not known to this machine.`,
      'Correct the project’s target, or use an address such as 127.0.0.1.',
    );
  }
  if (CERTIFICATE_CODES.test(code)) {
    return failed(
      `The certificate of the upstream ${origin} is not trusted (${stripNodeAdvice(message)}).`,
      'Give it one that is, or set verifyCertificate to false in the project’s target.',
    );
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return failed(
      `The upstream ${origin} does not speak TLS as expected.`,
      'If it serves plain HTTP, begin the target with http://.',
    );
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return failed(
      `The upstream ${origin} sent a header section that is longer than what is read, ${maxHeaderSize} bytes.`,
      'Have it send fewer or shorter fields.',
    );
  }
  if (code.startsWith('HPE_')) {
    // Only what is wrong from its first byte on may be TLS.
    const hint = code === 'HPE_INVALID_CONSTANT' ? mayBeTls(url) : '';
    return failed(
      `What the upstream ${origin} sent is not an HTTP/1.1 response: ${message.replace(/^Parse Error: /, '')}.`,
      `${hint}Mend what it sends.`,
    );
  }
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return failed(
      `The upstream ${origin} closed the connection before it had answered.`,
      `${mayBeTls(url)}Its log may say why; ask again.`,
    );
  }
  return failed(
    `The upstream ${origin} could not be asked (${message || code}).`,
    'See whether it runs, or correct the project’s target.',
  );
}

/** A server that is asked in the clear and speaks TLS answers with an alert, or not at all. */
const mayBeTls = (url: string): string =>
  url.startsWith('https:') ? '' : 'If it speaks HTTPS, begin the target with https://. ';

/** Node's own advice is for whoever starts Node by hand. */
const stripNodeAdvice = (message: string): string => message.replace(/; if the root CA is installed locally.*$/, '');

/** The code of an error, also of one that gathers several attempts (RFC 8305). */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : '';
}

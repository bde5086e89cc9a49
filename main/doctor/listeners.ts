import { request as openHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as openHttps } from 'node:https';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/error-code.ts';
import type { PortHolder } from '../base/system/port-holder.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { finding, addressText } from './finding.ts';
import { holderText, type PortName } from './ports.ts';

export type ListenerAnswer = { status: number } | { reason: string };

export interface ListenerEvidence {
  port: PortName;
  pid: number;
  holder: PortHolder | null;
  answers: readonly { address: string; answer: ListenerAnswer }[];
  /** The status that a healthy listener answers with. */
  expected: number;
  /** Addresses that the start found missing on this machine. */
  warnings: readonly string[];
}

/** Whether a listener answers at its addresses, and which program holds the port. */
export function evaluateListener(evidence: ListenerEvidence): DoctorCheck {
  const { port, pid, holder, answers, expected, warnings } = evidence;
  const subject = { area: 'listeners', name: port.name, title: port.title } as const;
  const foreign = holder !== null && holder.pid !== pid;
  const held =
    holder === null
      ? []
      : [`Port ${port.port} is held by ${holderText(holder)}, ${foreign ? 'another program' : 'this Vivarium'}.`];
  const lines = answers.map(
    ({ address, answer }) => `${addressText(address, port.port)} ${answerText(answer, expected)}.`,
  );
  const silent = answers.some(({ answer }) => !('status' in answer) || answer.status !== expected);
  if (silent || foreign) {
    return finding(subject, 'failed', [...lines, ...held, ...warnings], {
      fix: foreign
        ? `Stop ${holder.name}, or start Vivarium with ${port.option} and another port.`
        : 'Start Vivarium again. If that does not help, a firewall or another program on this machine interferes.',
    });
  }
  const remedy = { fix: 'Clients that try IPv6 first are slower here. Enable IPv6 on the loopback interface.' };
  return warnings.length === 0
    ? finding(subject, 'ok', [...lines, ...held])
    : finding(subject, 'warning', [...lines, ...held, ...warnings], remedy);
}

function answerText(answer: ListenerAnswer, expected: number): string {
  if (!('status' in answer)) return `gives no answer: ${answer.reason}`;
  return answer.status === expected ? 'answers' : `answers with ${answer.status} instead of ${expected}`;
}

/** Real milliseconds for an answer of a listener on this machine. */
const ANSWER_MS_MAX = 3_000;

export interface ListenerQuestion {
  scheme: 'http' | 'https';
  address: string;
  port: number;
  /** Hostname of the URL and the handshake. */
  hostname: string;
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /**
   * The root’s certificate, for HTTPS; without one, Node would first load its bundled authorities, which takes a while.
   */
  rootPem?: string;
}

/** One request on its own connection. Ignores the certificate over HTTPS, which the handshakes check. */
export function askListener(question: ListenerQuestion, clock: Pick<Clock, 'realTimer'>): Promise<ListenerAnswer> {
  const { scheme, address, port, hostname, method, path, headers, body, rootPem } = question;
  const options = {
    host: address,
    port,
    method,
    path,
    agent: false as const,
    headers: { ...headers, Host: `${hostname}:${port}` },
  };
  return answerOf(
    () =>
      scheme === 'http'
        ? openHttp(options)
        : openHttps({ ...options, servername: hostname, rejectUnauthorized: false, ca: rootPem }),
    body,
    clock,
  );
}

/** The status of the answer to a request, or why there is none. */
function answerOf(
  open: () => ClientRequest,
  body: string | undefined,
  clock: Pick<Clock, 'realTimer'>,
): Promise<ListenerAnswer> {
  return new Promise((resolve) => {
    const sent = open();
    const settle = (answer: ListenerAnswer) => {
      timer.cancel();
      sent.destroy();
      resolve(answer);
    };
    const timer = clock.realTimer(ANSWER_MS_MAX, () =>
      settle({ reason: `no answer within ${ANSWER_MS_MAX / 1_000} s` }),
    );
    sent.on('response', ({ statusCode = 0 }: IncomingMessage) => settle({ status: statusCode }));
    sent.on('error', (error) => settle({ reason: reasonOf(error) }));
    sent.end(body);
  });
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing is listening there',
  ECONNRESET: 'it closed the connection',
  EADDRNOTAVAIL: 'this machine has no such address',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

export function reasonOf(error: Error): string {
  const code = codeOf(error) ?? '';
  return REASONS[code] ?? error.message;
}

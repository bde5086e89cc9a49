import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Clock } from '../base/clock.ts';
import type { PortHolder } from '../base/system/port-holder.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { checkOf, addressText } from './finding.ts';
import { request as openHttp } from 'node:http';
import { request as openHttps } from 'node:https';
import { codeOf } from '../base/error-code.ts';
import { responseTo } from '../base/http/message.ts';

export interface PortName {
  name: 'http' | 'https' | 'dns' | 'control';
  title: string;
  port: number;
  /** The option that selects another one. */
  option: string;
}

interface FreePortEvidence {
  port: PortName;
  /** Addresses with a listener. */
  taken: readonly string[];
  holder: PortHolder | null;
  /** Whether the user may listen on this port number. */
  permitted: boolean;
  /** Process of a Vivarium on the same data folder, which holds its own ports; null without one. */
  pid: number | null;
}

/** Whether a Vivarium that starts now could bind the port. */
export function evaluateFreePort({ port, taken, holder, permitted, pid }: FreePortEvidence): DoctorCheck {
  const { ok, skipped, failed } = checkOf('listeners', port.name, port.title);
  if (port.port === 0) return ok('The next start picks any free port.');
  if (taken.length === 0 && holder === null) {
    if (!permitted) {
      return failed(
        `Port ${port.port} is free, but reserved for administrators on this system.`,
        `Permit it (“Reach it” for a hostname shows how, and how to undo it), or start with ${port.option} and a port above 1023.`,
        [`vivarium start ${port.option} 0`],
      );
    }
    return ok(`Port ${port.port} is free for the next start.`);
  }
  if (holder !== null && holder.pid === pid) {
    return skipped(`Port ${port.port} is held by the Vivarium of this data folder (pid ${pid}).`);
  }
  const where =
    taken.length === 0 ? `Port ${port.port}` : taken.map((address) => addressText(address, port.port)).join(' and ');
  const who = holder === null ? 'by a program that this user can’t see' : `by ${holderText(holder)}`;
  return failed(
    `${where} ${taken.length > 1 ? 'are' : 'is'} held ${who}.`,
    `Stop that program, or start with ${port.option} and another port.`,
    [`vivarium start ${port.option} 0`],
  );
}

/** The port where ACME clients such as `lego --http` listen to answer http-01: should be free or held by a client. */
export function evaluateAcmePort(evidence: { port: number; holder: PortHolder | null; pid: number }): DoctorCheck {
  const { port, holder, pid } = evidence;
  const { ok, failed } = checkOf('listeners', 'acme', 'Port of ACME clients');
  if (holder === null) return ok(`Port ${port} is free for an ACME client that answers challenges itself.`);
  const held = `Port ${port}, where ACME clients answer the CA, is held by ${holderText(holder)}`;
  if (holder.pid !== pid) return ok(`${held}, which should be such a client.`);
  return failed(
    `${held}, this Vivarium: no client can answer there.`,
    'The break machine.port-taken holds it on purpose: repair the break. Otherwise choose another port with acmeHttpPort.',
    ['vivarium break off --all'],
  );
}

const holderText = ({ name, pid }: PortHolder): string => `${name} (pid ${pid})`;

/** Real milliseconds for a connection; on this machine, a slower one counts as not accepted. */
const CONNECT_MS_MAX = 2_000;

/** Whether a program accepts connections at an address or hostname. Connects and then closes the connection. */
function isListening(host: string, port: number, clock: Pick<Clock, 'realTimer'>): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (listening: boolean) => {
      timer.cancel();
      socket.destroy();
      resolve(listening);
    };
    const timer = clock.realTimer(CONNECT_MS_MAX, () => settle(false));
    socket.on('connect', () => settle(true));
    socket.on('error', () => settle(false));
  });
}

/** The addresses among `addresses` with a listener on the port. */
export async function takenAddresses(
  addresses: readonly string[],
  port: number,
  clock: Pick<Clock, 'realTimer'>,
): Promise<string[]> {
  const listening = await Promise.all(addresses.map((address) => isListening(address, port, clock)));
  return addresses.filter((_address, index) => listening[index]);
}

/** CAP_NET_BIND_SERVICE as a bit of a process's capabilities (capabilities(7)). */
const CAP_NET_BIND_SERVICE = 1n << 10n;

/** Whether this process may listen on `port`, as far as the system says without trying. */
export function mayListen(port: number, platform: NodeJS.Platform, proc = '/proc'): boolean {
  if (port === 0 || port > 1023 || platform === 'win32') return true;
  if (platform !== 'linux') return process.getuid?.() === 0;
  try {
    if (port >= Number(readFileSync(`${proc}/sys/net/ipv4/ip_unprivileged_port_start`, 'utf8'))) return true;
    const rights = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync(`${proc}/self/status`, 'utf8'))?.[1];
    return rights === undefined || (BigInt(`0x${rights}`) & CAP_NET_BIND_SERVICE) !== 0n;
  } catch {
    return true;
  }
}

type ListenerAnswer = { status: number } | { reason: string };

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
  const { ok, warning, failed } = checkOf('listeners', port.name, port.title);
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
    return failed(
      [...lines, ...held, ...warnings],
      foreign
        ? `Stop ${holder.name}, or start Vivarium with ${port.option} and another port.`
        : 'Start Vivarium again. If that does not help, a firewall or another program on this machine interferes.',
    );
  }
  const remedy = { fix: 'Clients that try IPv6 first are slower here. Enable IPv6 on the loopback interface.' };
  return warnings.length === 0 ? ok([...lines, ...held]) : warning([...lines, ...held, ...warnings], remedy);
}

function answerText(answer: ListenerAnswer, expected: number): string {
  if (!('status' in answer)) return `gives no answer: ${answer.reason}`;
  return answer.status === expected ? 'answers' : `answers with ${answer.status} instead of ${expected}`;
}

/** Real milliseconds for an answer of a listener on this machine. */
const ANSWER_MS_MAX = 3_000;

interface ListenerQuestion {
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
export async function askListener(
  { scheme, address: host, port, hostname, method, path, headers, body, rootPem }: ListenerQuestion,
  clock: Pick<Clock, 'realTimer'>,
): Promise<ListenerAnswer> {
  const fields = { ...headers, Host: `${hostname}:${port}` };
  const options = { host, port, method, path, agent: false as const, headers: fields };
  const secure = { servername: hostname, rejectUnauthorized: false, ca: rootPem };
  const sent = scheme === 'http' ? openHttp(options) : openHttps({ ...options, ...secure });
  const timer = clock.realTimer(ANSWER_MS_MAX, () =>
    sent.destroy(new Error(`no answer within ${ANSWER_MS_MAX / 1_000} s`)),
  );
  try {
    const { statusCode = 0 } = await responseTo(sent.end(body));
    return { status: statusCode };
  } catch (error) {
    return { reason: reasonOf(error as Error) };
  } finally {
    timer.cancel();
    sent.destroy();
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'nothing is listening there',
  ECONNRESET: 'it closed the connection',
  EADDRNOTAVAIL: 'this machine has no such address',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

export const reasonOf = (error: Error): string => REASONS[codeOf(error) ?? ''] ?? error.message;

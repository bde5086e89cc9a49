import { orElse } from '../../contract/errors.ts';
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import { codeOf } from '../error-code.ts';

/** The result of this system's resolver for a hostname, as other programs get it. */
export interface SystemAnswer {
  /** Empty if there is none, or no answer in time. */
  addresses: readonly string[];
  /** Why there is none, as part of a sentence; null if there is one. */
  reason: string | null;
  /** The line of the hosts file with an address beyond this machine; null if DNS has that address. */
  hosts: HostsLine | null;
}

export interface HostsLine {
  file: string;
  /** From 1. */
  line: number;
  address: string;
}

const REASONS: Record<string, string> = {
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'its resolver does not answer',
  ENODATA: 'the name has no address',
};

/** Long enough for a working resolver. */
const ASK_MS_MAX = 2_000;

export const HOSTS_FILE =
  process.platform === 'win32'
    ? `${process.env['windir'] ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';

/** Asks as other programs do, by getaddrinfo(3), for up to two seconds. */
export async function askSystem(hostname: string, clock: Pick<Clock, 'realTimer'>): Promise<SystemAnswer> {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<SystemAnswer>();
  const timer = clock.realTimer(ASK_MS_MAX, () => giveUp(unknown('EAI_AGAIN')));
  const found = lookup(hostname, { all: true }).then(
    (all): SystemAnswer => {
      const addresses = [...new Set(all.map(({ address }) => address))];
      const foreign = foreignOf(addresses);
      const lines = foreign.length === 0 ? [] : hostsLines(hostname, readHosts());
      const line = lines.find(({ address }) => foreign.includes(address));
      return { addresses, reason: null, hosts: line === undefined ? null : { file: HOSTS_FILE, ...line } };
    },
    (error: unknown) => unknown(codeOf(error) ?? String(error)),
  );
  try {
    return await Promise.race([found, late]);
  } finally {
    timer.cancel();
  }
}

const unknown = (code: string): SystemAnswer => ({ addresses: [], reason: REASONS[code] ?? code, hosts: null });

/** The addresses that leave the machine (RFC 6890); an IPv4-mapped loopback address does not. */
export const foreignOf = (addresses: readonly string[]): string[] =>
  addresses.filter((address) => address !== '::1' && !/^(?:::ffff:)?127\./i.test(address));

/** The lines of a hosts file that name `hostname`, in order; the first one of a family counts. */
export const hostsLines = (hostname: string, text: string): Pick<HostsLine, 'line' | 'address'>[] =>
  text.split('\n').flatMap((content, index) => {
    const [address = '', ...names] = (content.split('#')[0] ?? '').trim().split(/\s+/);
    return names.some((name) => name.toLowerCase() === hostname) ? [{ line: index + 1, address }] : [];
  });

const readHosts = (): string => orElse(() => readFileSync(HOSTS_FILE, 'latin1'), '');

/** A hostname that this system resolves to another machine, where programs send their requests and API keys. */
export interface Elsewhere {
  /** Names the addresses and their source. */
  message: string;
  /** Which requests still go there, and which do not. */
  effect: string;
  /** A sentence; null if a change of this machine is the remedy, because DNS has the address. */
  fix: string | null;
}

/** Null if the hostname is not resolved elsewhere. */
export function explainElsewhere(hostname: string, { addresses, hosts }: SystemAnswer): Elsewhere | null {
  const foreign = foreignOf(addresses);
  if (foreign.length === 0) return null;
  const leads = `This system leads ${hostname} to ${foreign.join(', ')}`;
  if (hosts === null) {
    return {
      message: `${leads}, as its DNS says.`,
      effect: 'Programs that ask the system reach that address; the proxy, the PAC file and DNS over HTTPS lead here.',
      fix: null,
    };
  }
  return {
    message: `${leads}, as line ${hosts.line} of ${hosts.file} says.`,
    effect:
      'Programs that ask the system reach that address, and so does Firefox, which asks no DNS over HTTPS for names of that file; ' +
      'the proxy and the PAC file lead here.',
    fix: `Remove line ${hosts.line} of ${hosts.file}, or change its address to 127.0.0.1.`,
  };
}

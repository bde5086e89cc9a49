import { commandLine } from '../base/system/own-command.ts';
import { posixWord, powerShellString } from '../base/text/shell.ts';
import { foreignOf, type SystemAnswer, explainElsewhere } from '../base/system/system-names.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { addressText, checkOf, type MetBreak, underBreaks } from './finding.ts';

/** Result of one question: the rcode as a mnemonic and the values of the answer, or why there was none. */
export type Reply = { rcode: string; values: readonly string[] } | { reason: string };

/** Answers of Vivarium's own server to the same question, at each address over each transport. */
export interface DnsEvidence {
  port: number;
  /** The question, and a value that the answer must contain. */
  name: string;
  expected: string;
  replies: readonly { address: string; transport: 'udp' | 'tcp'; reply: Reply }[];
}

export function evaluateDnsServer({ port, name, expected, replies }: DnsEvidence): DoctorCheck {
  const { ok, failed } = checkOf('dns', 'server', 'DNS server');
  const isRight = (reply: Reply): boolean =>
    'rcode' in reply && reply.rcode === 'NOERROR' && reply.values.includes(expected);
  const lines = replies.map(({ address, transport, reply }) => {
    const where = `${addressText(address, port)} over ${transport.toUpperCase()}`;
    if ('reason' in reply) return `${where} gives no answer: ${reply.reason}.`;
    return isRight(reply)
      ? `${where} answers ${name} A with ${expected}.`
      : `${where} answers ${name} A with ${reply.rcode}${reply.values.length === 0 ? '' : ` ${reply.values.join(', ')}`} instead of ${expected}.`;
  });
  if (replies.every(({ reply }) => isRight(reply))) return ok(lines);
  return failed(lines, 'Start Vivarium again. If only one transport fails, a firewall on this machine blocks it.', [
    `dig +short @127.0.0.1 -p ${port} ${name}`,
  ]);
}

/** The server that verification and CAA checks ask (setting `resolver`). */
export interface ResolverEvidence {
  /** Null when it is Vivarium's own. */
  foreign: { place: string; reply: Reply } | null;
}

export function evaluateResolver({ foreign }: ResolverEvidence): DoctorCheck {
  const { ok, failed } = checkOf('dns', 'resolver', 'Resolver of verification');
  if (foreign === null) return ok('Verification and CAA ask Vivarium’s own DNS server.');
  const { place, reply } = foreign;
  // Any rcode proves that it is reachable; answers about domains are shown with the domains.
  if ('rcode' in reply) return ok(`${place}, the setting resolver, answers.`);
  return failed(
    `${place}, the setting resolver, gives no answer: ${reply.reason}.`,
    'Start that server, or let verification ask Vivarium’s own DNS.',
    ['vivarium settings update --resolver local'],
  );
}

/** The system's own answer for a name below `localhost`. */
export interface LocalhostEvidence {
  /** The first of them was looked up. */
  hostnames: readonly [string, ...string[]];
  answer: SystemAnswer;
  platform: NodeJS.Platform;
}

/** Browsers and curl resolve `*.localhost` themselves (RFC 6761 §6.3); other programs ask the system. */
export function evaluateLocalhost({ hostnames, answer, platform }: LocalhostEvidence): DoctorCheck {
  const { ok, warning, failed } = checkOf('dns', 'localhost', '*.localhost on this system');
  const { addresses, reason, hosts } = answer;
  const [hostname] = hostnames;
  if (reason !== null) {
    const others = 'Browsers and curl reach it anyway; programs that ask the system, such as Node and Python, do not.';
    return warning([`The system does not resolve ${hostname}: ${reason}.`, others], hostsRemedy(hostnames, platform));
  }
  const shown = addresses.join(', ');
  if (foreignOf(addresses).length === 0) return ok(`The system resolves ${hostname} to ${shown}.`);
  const source = hosts === null ? '' : `, according to line ${hosts.line} of ${hosts.file}`;
  return failed(
    `The system resolves ${hostname} to ${shown}${source}. That is not this machine: requests and API keys go there.`,
    hosts === null
      ? hostsRemedy(hostnames, platform)
      : { fix: `Remove line ${hosts.line} of ${hosts.file}, or change its address to 127.0.0.1.` },
  );
}

/** The system's own answers for the custom domains that are served here. */
export interface SystemEvidence {
  /** `breaks`: of its DNS answers. */
  asked: readonly { hostname: string; answer: SystemAnswer; breaks: readonly MetBreak[] }[];
  hasMore: boolean;
}

/** Whether programs that ask the system send requests for custom domains to another machine. */
export function evaluateSystem({ asked, hasMore }: SystemEvidence): DoctorCheck {
  const { ok, warning } = checkOf('dns', 'system', 'Custom domains on this system');
  const rest = hasMore ? [`Only the first ${asked.length} were looked up.`] : [];
  const found = asked.flatMap(({ hostname, answer, breaks }) => {
    const elsewhere = explainElsewhere(hostname, answer);
    return elsewhere === null ? [] : [{ hostname, breaks, ...elsewhere }];
  });
  if (found.length === 0) {
    const [none] = asked;
    const said =
      none === undefined ? 'No custom domain is served.' : 'It does not lead any of them to another machine.';
    return ok([said, ...rest]);
  }
  const effects = new Set(found.map(({ effect }) => effect));
  // One line of the hosts file may have several names.
  const fixes = new Set(found.flatMap(({ fix }) => (fix === null ? [] : [fix])));
  const byDns = found.filter(({ fix }) => fix === null);
  const check = warning([...found.map(({ message }) => message), ...effects, ...rest], {
    fix: [
      ...fixes,
      ...(byDns.length === 0 ? [] : ['Make this system resolve them to this machine: the command shows how.']),
    ].join(' '),
    ...(byDns.length > 0 && { commands: byDns.map(({ hostname }) => commandLine`vivarium machine plan ${hostname}`) }),
  });
  const isByBreaks = found.every(({ fix, breaks }) => fix === null && breaks.length > 0);
  return isByBreaks
    ? underBreaks(
        check,
        found.flatMap(({ breaks }) => breaks),
      )
    : check;
}

function hostsRemedy(hostnames: readonly string[], platform: NodeJS.Platform) {
  const line = ['127.0.0.1', ...hostnames].join(' ');
  const them = hostnames.length === 1 ? 'it' : 'them';
  if (platform === 'win32') {
    return {
      fix: `Add ${them} to the hosts file, in a PowerShell opened as administrator.`,
      commands: [`Add-Content "$env:windir\\System32\\drivers\\etc\\hosts" ${powerShellString(line)}`],
    };
  }
  const toHosts = `echo ${posixWord(line)} | sudo tee -a /etc/hosts`;
  if (platform === 'linux') {
    return {
      fix: `Install nss-myhostname, which resolves all of *.localhost (command for Debian and Ubuntu), or add ${them} to /etc/hosts.`,
      commands: ['sudo apt install libnss-myhostname'],
      otherwise: toHosts,
    };
  }
  return { fix: `Add ${them} to /etc/hosts.`, commands: [toHosts] };
}

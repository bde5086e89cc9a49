import {
  asLongAs,
  type Change,
  hindered,
  type Look,
  ownFile,
  planHosts,
  portsBy,
  resolverOf,
  type Wish,
  type CommandStep,
} from './change.ts';
import { powerShellString } from '../base/text/shell.ts';

const FLUSH = ['dscacheutil -flushcache', 'killall -HUP mDNSResponder'];

/** The rules of macOS itself evaluate all anchors below com.apple (pf.conf). */
const ANCHOR = 'com.apple/localhost.vivarium';
const ANCHOR_FILE = '/etc/pf.anchors/localhost.vivarium';

export function planMacos(wish: Wish, look: Look): Change[] {
  return [
    planMacosResolver(wish, look),
    planHosts(wish.hostname, look, { file: '/etc/hosts', afterwards: FLUSH }),
    ...planMacosPorts(wish, look),
  ];
}

/** resolver(5). */
function planMacosResolver(wish: Wish, look: Look): Change {
  const { zone, ports } = wish;
  const about = resolverOf(wish);
  const file = ownFile(look, `/etc/resolver/${zone}`, `# Vivarium\nnameserver 127.0.0.1\nport ${ports.dns}\n`);
  if (typeof file === 'string') return hindered(about, file);
  return {
    ...about,
    note: `${asLongAs(wish)} scutil --dns shows it; dig and nslookup do not use it.`,
    steps: [file],
    afterApply: FLUSH,
    afterUndo: FLUSH,
  };
}

function planMacosPorts({ ports }: Wish, look: Look): Change[] {
  if (ports.http === 80 && ports.https === 443) return [];
  const about = portsBy(' (pf)');
  const rule = (from: number, to: number): string =>
    `rdr pass on lo0 inet proto tcp from any to 127.0.0.1 port ${from} -> 127.0.0.1 port ${to}\n`;
  const file = ownFile(look, ANCHOR_FILE, `# Vivarium\n${rule(80, ports.http)}${rule(443, ports.https)}`);
  if (typeof file === 'string') return [hindered(about, file)];
  return [
    {
      ...about,
      note: 'In effect until the machine restarts; the file then has no effect. Enables pf.',
      steps: [file],
      afterApply: [`pfctl -a ${ANCHOR} -f ${ANCHOR_FILE}`, 'pfctl -E'],
      afterUndo: [`pfctl -a ${ANCHOR} -F all`],
    },
  ];
}

export function planWindows(wish: Wish, look: Look, windowsFolder: string): Change[] {
  return [
    planWindowsResolver(wish),
    planHosts(wish.hostname, look, { file: `${windowsFolder}\\System32\\drivers\\etc\\hosts` }),
    ...planWindowsPorts(wish),
  ];
}

/** A rule of the name resolution policy table, identified by its comment. */
function planWindowsResolver(wish: Wish): Change {
  const { zone, ports } = wish;
  const about = resolverOf(wish);
  if (ports.dns !== 53) {
    return hindered(about, 'The policy table of Windows has no ports: start Vivarium with --dns-port 53 first.');
  }
  const comment = powerShellString(`Vivarium ${zone}`);
  const rules = `Get-DnsClientNrptRule | Where-Object Comment -eq ${comment}`;
  return {
    ...about,
    note: asLongAs(wish),
    steps: [
      {
        kind: 'command',
        path: 'The name resolution policy table (NRPT)',
        apply: `Add-DnsClientNrptRule -Namespace ${powerShellString(zone)}, ${powerShellString(`.${zone}`)} -NameServers '127.0.0.1' -Comment ${comment}`,
        undo: `${rules} | Remove-DnsClientNrptRule -Force`,
        test: `[bool](${rules})`,
      },
    ],
    afterApply: ['Clear-DnsClientCache'],
    afterUndo: ['Clear-DnsClientCache'],
  };
}

function planWindowsPorts({ ports }: Wish): Change[] {
  if (ports.http === 80 && ports.https === 443) return [];
  const forward = (from: number, to: number): CommandStep => ({
    kind: 'command',
    path: `Port ${from} (netsh portproxy)`,
    apply: `netsh interface portproxy add v4tov4 listenaddress=127.0.0.1 listenport=${from} connectaddress=127.0.0.1 connectport=${to}`,
    undo: `netsh interface portproxy delete v4tov4 listenaddress=127.0.0.1 listenport=${from}`,
    // A rule with another target is not Vivarium's and is kept.
    test: `[bool]((netsh interface portproxy show v4tov4) -match '^127\\.0\\.0\\.1\\s+${from}\\s+127\\.0\\.0\\.1\\s+${to}\\s*$')`,
  });
  return [
    {
      ...portsBy(' (netsh)'),
      note: 'Windows lets every program bind these ports, so --http-port 80 --https-port 443 is simpler if they are free.',
      steps: [forward(80, ports.http), forward(443, ports.https)],
      afterApply: [],
      afterUndo: [],
    },
  ];
}

import { powerShellString } from '../base/text/shell.ts';
import { type Change, hindered, type Look, type Wish } from './change.ts';
import { planHosts } from './hosts.ts';
import type { CommandStep } from './step.ts';

export function planWindows(wish: Wish, look: Look, windowsFolder: string): Change[] {
  return [
    planResolver(wish),
    planHosts(wish.hostname, look, { file: `${windowsFolder}\\System32\\drivers\\etc\\hosts` }),
    ...planPorts(wish),
  ];
}

/** A rule of the name resolution policy table, identified by its comment. */
function planResolver({ zone, ports }: Wish): Change {
  const about = {
    id: `resolver:${zone}`,
    kind: 'resolver',
    what: `Vivarium’s DNS for ${zone}`,
  } as const;
  if (ports.dns !== 53) {
    return hindered(about, 'The policy table of Windows has no ports: start Vivarium with --dns-port 53 first.');
  }
  const comment = powerShellString(`Vivarium ${zone}`);
  const rules = `Get-DnsClientNrptRule | Where-Object Comment -eq ${comment}`;
  return {
    ...about,
    note: `For every name under ${zone}, as long as Vivarium has that zone.`,
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

function planPorts({ ports }: Wish): Change[] {
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
      id: 'ports',
      kind: 'ports',
      what: 'Ports 80 and 443 for Vivarium (netsh)',
      note: 'Windows lets every program bind these ports, so --http-port 80 --https-port 443 is simpler if they are free.',
      steps: [forward(80, ports.http), forward(443, ports.https)],
      afterApply: [],
      afterUndo: [],
    },
  ];
}

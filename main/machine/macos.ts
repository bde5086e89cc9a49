import { type Change, hindered, type Look, ownFile, type Wish } from './change.ts';
import { planHosts } from './hosts.ts';

const FLUSH = ['dscacheutil -flushcache', 'killall -HUP mDNSResponder'];

/** The rules of macOS itself evaluate all anchors below com.apple (pf.conf). */
const ANCHOR = 'com.apple/localhost.vivarium';
const ANCHOR_FILE = '/etc/pf.anchors/localhost.vivarium';

/** The changes for macOS. */
export function planMacos(wish: Wish, look: Look): Change[] {
  return [
    planResolver(wish, look),
    planHosts(wish.hostname, look, { file: '/etc/hosts', afterwards: FLUSH }),
    ...planPorts(wish, look),
  ];
}

/** resolver(5). */
function planResolver({ zone, ports }: Wish, look: Look): Change {
  const about = {
    id: `resolver:${zone}`,
    kind: 'resolver',
    what: `Vivarium’s DNS for ${zone}`,
  } as const;
  const file = ownFile(look, `/etc/resolver/${zone}`, `# Vivarium\nnameserver 127.0.0.1\nport ${ports.dns}\n`);
  if (typeof file === 'string') return hindered(about, file);
  return {
    ...about,
    note: `For every name under ${zone}, as long as Vivarium has that zone. scutil --dns shows it; dig and nslookup do not use it.`,
    steps: [file],
    afterApply: FLUSH,
    afterUndo: FLUSH,
  };
}

function planPorts({ ports }: Wish, look: Look): Change[] {
  if (ports.http === 80 && ports.https === 443) return [];
  const about = { id: 'ports', kind: 'ports', what: 'Ports 80 and 443 for Vivarium (pf)' } as const;
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

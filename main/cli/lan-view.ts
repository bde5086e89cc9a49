import { typed } from '../base/own-command.ts';
import type { LanStatus } from '../contract/lan.ts';
import { posixWord } from '../base/shell.ts';
import { columns, printable } from './text.ts';

/** Whether other devices are served, what to open there, and how to change it. */
export function renderLan(status: LanStatus): string {
  const {
    state,
    wanted = '',
    problem = '',
    keep,
    url,
    localUrl,
    pacUrl,
    dns,
    hostnames,
    hostnamesTotal,
    choices,
  } = status;
  if (state === 'off') {
    const start = choices.map(({ interface: name, address }) => [
      typed(`vivarium lan start --interface ${posixWord(name)}`),
      `on ${address}`,
    ]);
    const next = start.length === 0 ? ['This machine is in no local network at present.'] : columns(start);
    return lines(['Vivarium serves this machine only. To let other devices reach the hostnames:', '', ...next]);
  }
  const end = `To serve this machine only: ${typed('vivarium lan stop')}`;
  const then = keep ? 'It is on again after the next start.' : 'It is off after the next start.';
  if (state === 'waiting') {
    return lines([
      `Other devices are not served at present: ${printable(problem)}`,
      `Waiting for ${wanted}. ${then}`,
      end,
    ]);
  }
  const rows = [
    ['Open on the device', [url, localUrl].filter((each) => each !== undefined).join(' or ')],
    ['Proxy (PAC file)', pacUrl ?? ''],
    ['DNS', dns ?? ''],
    [
      'Hostnames',
      hostnames.length === 0
        ? 'none; those below localhost mean the device itself'
        : `${hostnames.join(', ')}${hostnamesTotal > hostnames.length ? ', …' : ''}`,
    ],
  ];
  return lines([`Devices on ${status.interface ?? ''} reach the hostnames. ${then}`, '', ...columns(rows), '', end]);
}

const lines = (texts: readonly string[]): string => `${texts.join('\n')}\n`;

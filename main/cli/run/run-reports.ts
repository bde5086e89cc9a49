import { lookup } from 'node:dns/promises';
import { commandLine, ownCommand } from '../../base/system/own-command.ts';
import type { MappedRun } from '../../contract/runs.ts';
import type { Io } from '../text/io.ts';
import { withCommandLines } from '../words/command-line.ts';
import type { Asked } from './asked-run.ts';
import type { LeaseEvents } from './run-lease.ts';

/** What the lease reports, on standard error. */
export function createReports({ dataDir }: Asked, io: Io, say: (text: string) => void): LeaseEvents {
  const own = ownCommand(dataDir, io);
  let shown = '';
  return {
    mapped: (result, url) => void report(result, url),
    refused(message, url, isFinal) {
      say(isFinal ? withCommandLines(message, own) : `${url} does not answer yet: ${message}`);
    },
    lost: () =>
      say(
        'Vivarium has stopped or is restoring a snapshot. Your command keeps running and will be served again afterwards.',
      ),
    back: () => say('Vivarium is serving it again.'),
  };

  async function report({ run, domains }: MappedRun, url: string): Promise<void> {
    const failed = domains.flatMap(({ steps }) => steps.filter(({ ok }) => !ok));
    const lines = [
      ...failed.map(({ message, fix }) => withCommandLines(`${message} ${fix ?? ''}`.trimEnd(), own)),
      ...(await Promise.all(run.urls.map((address, index) => addressLine(address, domains[index])))).flat(),
    ];
    const text = lines.join('\n');
    if (text === shown) return say(`Now at ${url}.`);
    shown = text;
    for (const line of lines) say(line);
    say(`They lead to ${url}. What goes through: ${own('vivarium open')}`);
  }

  /** The address, if this machine resolves the hostname to itself; otherwise how to open it. */
  async function addressLine(address: string, domain: MappedRun['domains'][number] | undefined): Promise<string[]> {
    if (domain === undefined) return [address];
    if (!domain.serving.https) return [];
    const { hostname } = new URL(address);
    return [
      (await isFound(hostname)) ? address : `${address}  Open it: ${own(commandLine`vivarium open ${hostname}`)}`,
    ];
  }
}

/** Whether this machine resolves the hostname to itself, as a browser would. */
async function isFound(hostname: string): Promise<boolean> {
  const addresses = await lookup(hostname, { all: true }).catch(() => []);
  return addresses.length > 0 && addresses.every(({ address }) => /^(?:127\.|::1$)/.test(address));
}

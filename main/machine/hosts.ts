import { foreignOf, hostsLines } from '../base/system/system-names.ts';
import { type Change, hindered, type Look } from './change.ts';
import { withBlock } from './step.ts';

/** Larger files, such as those of ad blockers, would be stored twice in the ledger. */
const HOSTS_LENGTH_MAX = 1_048_576;

/** Two lines in the hosts file, which every program of the machine reads. */
export function planHosts(
  hostname: string,
  look: Look,
  { file, afterwards = [] }: { file: string; afterwards?: string[] },
): Change {
  const about = { id: `hosts:${hostname}`, kind: 'hosts', what: `${hostname} in ${file}` } as const;
  if (hostname.startsWith('*.')) return hindered(about, 'A hosts file has no wildcards. Plan for a hostname below it.');
  const { text, path, readOnly } = look.at(file);
  if (readOnly) return hindered(about, `${path} cannot be changed: the file system is read-only.`);
  if ((text?.length ?? 0) > HOSTS_LENGTH_MAX) {
    return hindered(about, `${path} is larger than 1 MiB, which Vivarium does not keep. Add the lines yourself.`);
  }
  const [present] = hostsLines(hostname, text ?? '');
  if (present !== undefined) {
    return hindered(
      about,
      foreignOf([present.address]).length === 0
        ? `Line ${present.line} of ${path} leads ${hostname} to this machine already.`
        : `Line ${present.line} of ${path} leads ${hostname} to ${present.address}, and the first line counts. Remove it first.`,
    );
  }
  const lines = [`127.0.0.1 ${hostname}`, `::1 ${hostname}`];
  return {
    ...about,
    note: 'Every program of this machine reads it. It names one hostname, without those below it.',
    steps: [{ kind: 'block', path, was: text, is: withBlock(text, hostname, lines), mark: hostname, lines }],
    afterApply: afterwards,
    afterUndo: afterwards,
  };
}

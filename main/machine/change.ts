import { hash } from 'node:crypto';
import { type Step, withBlock } from './step.ts';
import { foreignOf, hostsLines } from '../base/system/system-names.ts';

type ChangeKind = 'resolver' | 'ports' | 'hosts' | 'browser';

/** A planned change of this machine. */
export interface Change {
  /** The id in the ledger: `resolver:acme.test`, `hosts:shop.acme.test`, `ports`. */
  id: string;
  kind: ChangeKind;
  what: string;
  /** If there is an obstacle: why the change is impossible or unnecessary, and what to do. */
  note: string;
  /** Empty if there is an obstacle. */
  steps: Step[];
  /** Commands that make programs reload the files, run after the steps and after their undo. */
  afterApply: string[];
  afterUndo: string[];
  /** Text for the system's own configuration, if the change belongs there. */
  instead?: string;
}

/** The input of a plan. */
export interface Wish {
  hostname: string;
  /** The suffix that Vivarium's DNS answers: the zone of the hostname, or the hostname itself. */
  zone: string;
  ports: { http: number; https: number; dns: number };
  pacUrl: string;
  /** The command that restarts this Vivarium; options may be appended. */
  start: string;
}

interface Place {
  /** Null if there is no file. */
  text: string | null;
  /** The path without symbolic links. */
  path: string;
  /** Missing folders of the path, outermost first. */
  missingFolders: string[];
  /** Why not even the administrator can write it. */
  readOnly: boolean;
}

/** How a plan reads the machine. */
export interface Look {
  at(path: string): Place;
  has(path: string): boolean;
}

/** Identifies this change in this state of the machine. */
export const codeOf = ({
  id,
  steps,
  afterApply,
  afterUndo,
}: Pick<Change, 'id' | 'steps' | 'afterApply' | 'afterUndo'>): string =>
  hash('sha256', JSON.stringify([id, steps, afterApply, afterUndo]), 'hex').slice(0, 8);

/** A change that is prevented by the obstacle in its note. */
export const hindered = (change: Pick<Change, 'id' | 'kind' | 'what'>, note: string, instead?: string): Change => ({
  ...change,
  note,
  steps: [],
  afterApply: [],
  afterUndo: [],
  ...(instead !== undefined && { instead }),
});

/** The step for a file of Vivarium's own, or why it cannot be written. */
export function ownFile(look: Look, wanted: string, is: string): Extract<Step, { kind: 'file' }> | string {
  const { text, path, missingFolders, readOnly } = look.at(wanted);
  if (text !== null) {
    const whose = text === is ? 'It contains what Vivarium would write' : 'Vivarium did not write it';
    return `${path} exists already. ${whose}, and it is not in the ledger: move it away first.`;
  }
  if (readOnly) return `${path} cannot be created: the file system is read-only.`;
  return { kind: 'file', path, was: null, is, folders: missingFolders };
}

export const resolverOf = ({ zone }: Wish) =>
  ({ id: `resolver:${zone}`, kind: 'resolver', what: `Vivarium’s DNS for ${zone}` }) as const;
export const portsBy = (means = '') =>
  ({ id: 'ports', kind: 'ports', what: `Ports 80 and 443 for Vivarium${means}` }) as const;
export const asLongAs = ({ zone }: Wish): string => `For every name under ${zone}, as long as Vivarium has that zone.`;

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

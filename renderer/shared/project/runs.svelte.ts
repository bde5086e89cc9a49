import type { Project } from '../../../main/contract/projects.ts';
import { closestZone } from '../../../main/contract/record-plan.ts';
import type { Run } from '../../../main/contract/runs.ts';
import type { ZoneInfo } from '../../../main/contract/zones.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { posixWord } from '../../../main/base/text/shell.ts';

/** The commands that `vivarium run` has started, and the last ones that have ended. */
export class Runs {
  readonly #all: LiveQuery<Run[]>;

  constructor(source: Source) {
    const { client } = source;
    // A run makes, changes or removes its project.
    this.#all = new LiveQuery(source, ['projects.changed'], (signal) => client.runs.list({ ended: true }, { signal }));
  }

  of(projectId: string): Run | undefined {
    return this.#all.value?.find((run) => run.projectId === projectId && run.endedAt === undefined);
  }

  /** The run with a hostname in the zone, which can't be removed until it ends. */
  inZone(name: string, zones: readonly ZoneInfo[]): Run | undefined {
    return this.#all.value?.find(
      ({ endedAt, hostnames }) =>
        endedAt === undefined && hostnames.some((hostname) => closestZone(hostname, zones)?.name === name),
    );
  }

  /** The last run of the project with this slug, if it is over. */
  ended(slug: string): Run | undefined {
    const last = this.#all.value?.findLast(({ project }) => project === slug);
    return last?.endedAt === undefined ? undefined : last;
  }

  /** The run that made a project and has ended, while the project still leads to its server. */
  left({ id, slug, target }: Pick<Project, 'id' | 'slug' | 'target'>): Run | undefined {
    const last = this.ended(slug);
    const isLeft = last?.projectId === id && last.created && target.kind === 'upstream' && target.url === last.target;
    return isLeft ? last : undefined;
  }

  close(): void {
    this.#all.close();
  }
}

/** The command that starts a run again in its folder. */
export const commandOf = ({ project, folder, command, asked }: Run, vivarium: string): string =>
  `cd ${posixWord(folder)} && ${vivarium} run ${asked ?? `${project} -- ${command}`}`;

/** What happens at the end of a run. */
export const endOf = ({ created }: Run): string =>
  created
    ? 'When it ends, its hostnames, records and project are removed; the project stays with a key or a domain that you add.'
    : 'When it ends, its hostnames and records are removed, and the target is what it was before.';

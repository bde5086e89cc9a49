import type { Run } from '../../../main/contract/runs.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { posixWord } from '../../../main/base/text/shell.ts';

/** The commands that `vivarium run` has started, and those that ended while the page was open. */
export class Runs {
  readonly #running: LiveQuery<Run[]>;
  #known = $state.raw<readonly Run[]>([]);

  constructor(source: Source) {
    const { client } = source;
    this.#running = new LiveQuery(source, {
      read: (signal) => client.runs.list({}, { signal }),
      // A run makes, changes or removes its project.
      concerns: ({ type }) => type === 'projects.changed',
    });
    this.#running.follow((runs) => {
      this.#known = [...this.#known.filter((old) => runs.every(({ id }) => id !== old.id)), ...runs];
    });
  }

  of(projectId: string): Run | undefined {
    return this.#running.value?.find((run) => run.projectId === projectId);
  }

  /** The last run of the project with this slug, which is over. */
  ended(slug: string): Run | undefined {
    const last = this.#known.findLast(({ project }) => project === slug);
    return last === undefined || this.#running.value?.some(({ id }) => id === last.id) === true ? undefined : last;
  }

  close(): void {
    this.#running.close();
  }
}

/** The command that starts a run again in its folder. */
export const commandOf = ({ project, folder, command, asked }: Run, vivarium = 'vivarium'): string =>
  `cd ${posixWord(folder)} && ${vivarium} run ${asked ?? `${project} -- ${command}`}`;

/** What a run locks, and what happens at its end. */
export const endOf = ({ created }: Run): string =>
  `holds what it has set until it ends; then ${
    created
      ? 'its project, hostnames and records go, unless you have added a key or a domain.'
      : 'the target is what it was before, and its hostnames and records go.'
  }`;

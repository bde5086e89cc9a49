import type { DoctorCheck } from '../../../main/contract/doctor.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

/** A started or stopped server is noticed within this time. */
const LOOK_MS = 5_000;

/**
 * Whether the upstreams of all projects accept connections, checked repeatedly while shown. The doctor opens a
 * connection to each and sends nothing, so the servers see no request.
 */
export class TargetHealth {
  readonly #query: LiveQuery<readonly DoctorCheck[]>;
  readonly #source: Source;
  #timer: { cancel(): void } | null = null;

  constructor(source: Source) {
    this.#source = source;
    this.#query = new LiveQuery(source, ['projects.changed', 'deploys.changed'], async (signal) => {
      const { checks } = await source.client.doctor.run({ areas: ['upstreams'] }, { signal });
      return checks.filter(({ projectId }) => projectId !== undefined);
    });
    this.#await();
  }

  /** The check of the project's upstream; undefined without one, and until it is known. */
  of(projectId: string): DoctorCheck | undefined {
    return this.#query.value?.find((check) => check.projectId === projectId);
  }

  close(): void {
    this.#timer?.cancel();
    this.#query.close();
  }

  #await(): void {
    this.#timer = this.#source.time.realTimer(LOOK_MS, () => {
      if (this.#source.changes.following && (this.#query.value?.length ?? 0) > 0) this.#query.reread();
      this.#await();
    });
  }
}

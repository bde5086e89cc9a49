import type { BreakEntry } from '../../../main/contract/breaks.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { ApiKey } from '../../../main/contract/callers.ts';
import type { Project } from '../../../main/contract/projects.ts';
import { describeFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';

/** Projects whose keys the palette finds; each costs one call. */
const PROJECTS_MAX = 100;

/** The domains, zones and keys of all projects, and the catalogue of breaks; read again whenever the palette opens. */
export class NamedThings {
  domains = $state.raw<readonly Domain[]>([]);
  zones = $state.raw<readonly { name: string }[]>([]);
  keys = $state.raw<readonly { key: ApiKey; projectId: string }[]>([]);
  breaks = $state.raw<readonly BreakEntry[]>([]);
  /** Why they are outdated; the last known ones remain. */
  failure = $state<string | undefined>(undefined);
  readonly #client: () => Client;

  constructor(client: () => Client) {
    this.#client = client;
  }

  async read(projects: readonly Pick<Project, 'id'>[]): Promise<void> {
    const { breaks, domains, zones, keys } = this.#client();
    const keysOf = async ({ id }: Pick<Project, 'id'>) =>
      (await keys.list({ projectId: id })).map((key) => ({ key, projectId: id }));
    try {
      await Promise.all([
        domains.list({}).then((known) => (this.domains = known)),
        breaks.catalogue({}).then((known) => (this.breaks = known)),
        zones.list({}).then((known) => (this.zones = known)),
        Promise.all(projects.slice(0, PROJECTS_MAX).map(keysOf)).then((known) => (this.keys = known.flat())),
      ]);
      this.failure = undefined;
    } catch (error) {
      this.failure = describeFailure(error);
    }
  }
}

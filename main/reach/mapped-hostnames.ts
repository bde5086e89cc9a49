/** Of the routing snapshot, what can be reached at all. A hostname that is redirected has a route, too. */
export interface PublishedHostnames {
  routes: readonly { hostname: string; projectId: string; target: { kind: 'api' | 'upstream' } }[];
}

export interface MappedHostname {
  hostname: string;
  projectId: string;
  leadsTo: 'api' | 'upstream';
}

/** The hostnames of the snapshot in force. */
export interface MappedHostnames {
  publish(snapshot: PublishedHostnames): void;
  find(hostname: string): MappedHostname | null;
  ofProject(projectId: string): Iterable<string>;
  /** All of them, in no order. */
  all(): Iterable<string>;
  readonly size: number;
}

export function createMappedHostnames(): MappedHostnames {
  let mapped: ReadonlyMap<string, MappedHostname> = new Map();
  return {
    publish({ routes }) {
      mapped = new Map(
        routes.map(({ hostname, projectId, target }) => [hostname, { hostname, projectId, leadsTo: target.kind }]),
      );
    },
    find: (hostname) => mapped.get(hostname) ?? null,
    *ofProject(projectId) {
      for (const entry of mapped.values()) if (entry.projectId === projectId) yield entry.hostname;
    },
    all: () => mapped.keys(),
    get size() {
      return mapped.size;
    },
  };
}

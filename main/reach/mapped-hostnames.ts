/** Of the routing snapshot, what can be reached at all. */
export interface PublishedHostnames {
  routes: readonly { hostname: string; target: { kind: 'api' | 'upstream' } }[];
  /** By hostname. */
  redirects: ReadonlyMap<string, unknown>;
}

/** The hostnames of the snapshot in force. */
export interface MappedHostnames {
  publish(snapshot: PublishedHostnames): void;
  has(hostname: string): boolean;
  /** What answers at `hostname`; null where nothing does. */
  kindOf(hostname: string): 'api' | 'upstream' | 'redirect' | null;
  /** All of them, in no order. */
  all(): Iterable<string>;
  readonly size: number;
}

export function createMappedHostnames(): MappedHostnames {
  let mapped: ReadonlyMap<string, 'api' | 'upstream' | 'redirect'> = new Map();
  return {
    publish({ routes, redirects }) {
      mapped = new Map([
        ...routes.map(({ hostname, target }) => [hostname, target.kind] as const),
        // A redirect wins over a route of the same hostname.
        ...[...redirects.keys()].map((hostname) => [hostname, 'redirect'] as const),
      ]);
    },
    has: (hostname) => mapped.has(hostname),
    kindOf: (hostname) => mapped.get(hostname) ?? null,
    all: () => mapped.keys(),
    get size() {
      return mapped.size;
    },
  };
}

import type { Deploy } from '../../../main/contract/projects.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { ApiKey, CallerUsage } from '../../../main/contract/callers.ts';
import type { TrafficEntry } from '../../../main/contract/traffic.ts';
import { inProject, LiveQuery, type ProjectSource } from '../../connection/live-query.svelte.ts';
import { TrafficCharts } from '../../shared/traffic/traffic-charts.svelte.ts';

/** Rows of the last requests, and the requests read for them. */
const REQUESTS_SHOWN = 7;
const REQUESTS_READ = 4 * REQUESTS_SHOWN;

/** Home's data of one project. Created when the project is selected, closed when it is not. */
export class ProjectHome {
  readonly usage: LiveQuery<CallerUsage[]>;
  readonly keys: LiveQuery<ApiKey[]>;
  readonly domains: LiveQuery<Domain[]>;
  readonly deploys: LiveQuery<Deploy[]>;
  readonly requests: LiveQuery<readonly TrafficEntry[]>;
  readonly charts: TrafficCharts;

  constructor(options: ProjectSource) {
    const { client, projectId } = options;
    // A plan change sets new limits, a clock set back restarts windows, and a revoked key stops calling.
    this.usage = new LiveQuery(
      options,
      inProject(options, 'clock.changed', 'limits.changed', 'keys.changed', 'projects.changed'),
      (signal) => client.limits.usage({ projectId }, { signal }),
    );
    // A key is used by a request.
    this.keys = new LiveQuery(options, inProject(options, 'keys.changed', 'limits.changed'), (signal) =>
      client.keys.list({ projectId }, { signal }),
    );
    this.domains = new LiveQuery(options, inProject(options, 'domains.changed', 'certificates.changed'), (signal) =>
      client.domains.list({ projectId }, { signal }),
    );
    this.deploys = new LiveQuery(options, inProject(options, 'deploys.changed'), (signal) =>
      client.deploys.list({ projectId }, { signal }),
    );
    // Its own calls of a provider's API are no requests to the project, and have no callers here.
    this.requests = new LiveQuery(
      options,
      inProject(options, 'limits.changed', 'traffic.changed'),
      async (signal) =>
        (await client.traffic.list({ projectId, filter: '-is:provider', limit: REQUESTS_READ }, { signal })).items,
    );
    this.charts = new TrafficCharts({ ...options, minutes: 5 });
    // Requests without limits announce nothing; the steps of the charts show them.
    this.charts.summary.follow(() => this.requests.reread());
  }

  close(): void {
    for (const query of [this.usage, this.keys, this.domains, this.deploys, this.requests, this.charts]) query.close();
  }
}

/** The last requests, those that follow each other with the same request, caller and status as one row. */
export function alike(requests: readonly TrafficEntry[]): { of: TrafficEntry; count: number }[] {
  const rows: { of: TrafficEntry; count: number; same: string }[] = [];
  for (const of of requests) {
    const same = [of.method, of.authority, of.target, of.status, of.keyId ?? of.address].join(' ');
    const last = rows.at(-1);
    if (last?.same === same) last.count++;
    else rows.push({ of, count: 1, same });
  }
  return rows.slice(0, REQUESTS_SHOWN);
}

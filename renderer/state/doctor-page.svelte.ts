import type { DoctorArea, DoctorCheck, DoctorReport, DoctorStatus } from '../../main/contract/doctor.ts';
import type { Change } from '../connection/connection.svelte.ts';
import type { Client } from '../connection/transport.ts';
import { LiveQuery, type Source } from '../live/live-query.svelte.ts';

/** What areas are called, in the order of the report. */
export const AREA_TITLES: Record<DoctorArea, string> = {
  engine: 'Vivarium',
  listeners: 'Listeners',
  dns: 'DNS',
  domains: 'Domains',
  upstreams: 'Upstreams',
  trust: 'Trust',
  clock: 'Clocks',
  data: 'Data folder',
  root: 'Root',
  system: 'System',
};

const AREAS = Object.keys(AREA_TITLES) as DoctorArea[];

/** What to look at again after a change. The rest costs more than it tells, and is looked at by hand. */
const CONCERNED: Partial<Record<Change['type'], readonly DoctorArea[]>> = {
  'clock.changed': ['clock', 'domains'],
  'ca.changed': ['trust', 'root', 'domains'],
  'certificates.changed': ['domains'],
  'domains.changed': ['domains'],
  'projects.changed': ['domains', 'upstreams'],
  'settings.changed': ['dns', 'root'],
};

/** The doctor's report: made when the page opens, in parts after changes, and as a whole on request. */
export class DoctorPage {
  readonly query: LiveQuery<DoctorReport>;
  /** What the next run looks at. */
  #due: readonly DoctorArea[] = AREAS;
  #looking = $state(true);
  /** The last report; the query’s own value is not there yet when it reads for the first time. */
  #last: DoctorReport | undefined;
  readonly #client: Client;

  constructor({ client, changes, time }: Source) {
    this.#client = client;
    this.query = new LiveQuery({
      changes,
      time,
      read: (signal) => this.#run(signal),
      concerns: ({ type }) => {
        const areas = CONCERNED[type] ?? [];
        this.#want(areas);
        return areas.length > 0;
      },
    });
  }

  /** Whether everything is being looked at. */
  get looking(): boolean {
    return this.#looking;
  }

  /** The checks of a status, in the order of the areas. */
  of(status: DoctorStatus): readonly DoctorCheck[] {
    return this.query.value?.checks.filter((check) => check.status === status) ?? [];
  }

  runAgain(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#due = AREAS;
    this.query.reread('now');
  }

  close(): void {
    this.query.close();
  }

  #want(areas: readonly DoctorArea[]): void {
    this.#due = [...this.#due, ...areas.filter((area) => !this.#due.includes(area))];
  }

  async #run(signal: AbortSignal): Promise<DoctorReport> {
    const before = this.#last;
    // Without anything due the connection is back, after which anything may be otherwise.
    const whole = before === undefined || this.#due.length === 0 || this.#due.length === AREAS.length;
    const areas = whole ? AREAS : this.#due;
    this.#due = [];
    if (whole) this.#looking = true;
    try {
      const report = await this.#client.doctor.run(whole ? {} : { areas: [...areas] }, { signal });
      this.#last = whole ? report : merge(before, report, areas);
      return this.#last;
    } catch (error) {
      this.#want(areas);
      throw error;
    } finally {
      this.#looking = false;
    }
  }
}

/** `before` with those areas as they are in `report`. */
export function merge(before: DoctorReport, report: DoctorReport, areas: readonly DoctorArea[]): DoctorReport {
  const checks = AREAS.flatMap((area) =>
    (areas.includes(area) ? report : before).checks.filter((check) => check.area === area),
  );
  const count = (status: DoctorStatus): number => checks.filter((check) => check.status === status).length;
  const counts = { failed: count('failed'), warning: count('warning'), ok: count('ok'), skipped: count('skipped') };
  return { ...report, counts, checks };
}

/** The verdict over all, in a sentence. */
export function verdictOf({ failed, warning }: DoctorReport['counts']): string {
  if (failed > 0) return failed === 1 ? 'One check failed' : `${failed} checks failed`;
  if (warning > 0) return 'Nothing failed';
  return 'All is well';
}

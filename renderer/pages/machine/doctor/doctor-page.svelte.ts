import type { DoctorArea, DoctorCheck, DoctorReport, DoctorStatus } from '../../../../main/contract/doctor.ts';
import { isBad } from '../../../../main/contract/doctor-words.ts';
import type { Change } from '../../../connection/connection.svelte.ts';
import type { Project } from '../../../../main/contract/projects.ts';
import type { Client } from '../../../connection/transport.ts';
import { LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';
import type { Place } from '../../../shared/navigation/places.ts';
import { placeOfField } from '../../../shared/settings/settings-table.ts';

/** Area titles, in report order. */
export const AREA_TITLES: Record<DoctorArea, string> = {
  engine: 'Vivarium',
  listeners: 'Listeners',
  dns: 'DNS',
  domains: 'Domains',
  upstreams: 'Targets',
  trust: 'Trust',
  clock: 'Clocks',
  data: 'Data folder',
  root: 'Root',
  system: 'System',
  desktop: 'Desktop',
  browsers: 'Browsers',
};

const AREAS = Object.keys(AREA_TITLES) as DoctorArea[];

/** The areas to re-check after a change. The others are too expensive and run only on request. */
const CONCERNED: Partial<Record<Change['type'], readonly DoctorArea[]>> = {
  'clock.changed': ['clock', 'domains'],
  'ca.changed': ['trust', 'root', 'domains'],
  'certificates.changed': ['domains'],
  'domains.changed': ['domains'],
  'projects.changed': ['domains', 'upstreams'],
  'settings.changed': ['dns', 'root', 'desktop'],
};

/** The doctor's report: complete on opening and on request, updated in part after changes. */
export class DoctorPage {
  readonly query: LiveQuery<DoctorReport>;
  #due: readonly DoctorArea[] = AREAS;
  /** Whether a complete run is under way. */
  running = $state(true);
  /** The last report; the query has no value yet during its first read. */
  #last: DoctorReport | undefined;
  readonly #client: Client;

  constructor(source: Source) {
    const { client } = source;
    this.#client = client;
    this.query = new LiveQuery(
      source,
      ({ type }) => {
        const areas = CONCERNED[type] ?? [];
        this.#schedule(areas);
        return areas.length > 0;
      },
      (signal) => this.#run(signal),
    );
  }

  /** The checks with a status, those of what is down first, then in area order. */
  of(status: DoctorStatus): readonly DoctorCheck[] {
    const found = this.query.value?.checks.filter((check) => check.status === status) ?? [];
    return found.toSorted((a, b) => Number(isBad(b)) - Number(isBad(a)));
  }

  runAgain(): void {
    if (this.running) return;
    this.running = true;
    this.#due = AREAS;
    this.query.reread('now');
  }

  close(): void {
    this.query.close();
  }

  #schedule(areas: readonly DoctorArea[]): void {
    this.#due = [...this.#due, ...areas.filter((area) => !this.#due.includes(area))];
  }

  async #run(signal: AbortSignal): Promise<DoctorReport> {
    const before = this.#last;
    // Nothing is due after a reconnect, when every area may have changed.
    const whole = before === undefined || this.#due.length === 0 || this.#due.length === AREAS.length;
    const areas = whole ? AREAS : this.#due;
    this.#due = [];
    if (whole) this.running = true;
    try {
      const report = await this.#client.doctor.run(whole ? {} : { areas: [...areas] }, { signal });
      this.#last = whole ? report : merge(before, report, areas);
      return this.#last;
    } catch (error) {
      this.#schedule(areas);
      throw error;
    } finally {
      this.running = false;
    }
  }
}

/** The checks; those of domains that differ in nothing but their hostname as one, without its commands. */
export function joined(checks: readonly DoctorCheck[]): DoctorCheck[] {
  const textOf = ({ id, title, ...rest }: DoctorCheck): string =>
    rest.area === 'domains' ? JSON.stringify(rest).replaceAll(title, '') : id;
  return [...Map.groupBy(checks, textOf).values()].flatMap((all) => {
    const [{ commands: _, ...first }] = all as [DoctorCheck];
    const names = all.slice(0, 3).map(({ title }) => title);
    return all.length < 4 ? all : { ...first, id: 'domains.', title: `${all.length} domains: ${names.join(', ')}, …` };
  });
}

/** `before` with those areas replaced from `report`. */
export function merge(before: DoctorReport, report: DoctorReport, areas: readonly DoctorArea[]): DoctorReport {
  const checks = AREAS.flatMap((area) =>
    (areas.includes(area) ? report : before).checks.filter((check) => check.area === area),
  );
  const count = (status: DoctorStatus): number => checks.filter((check) => check.status === status).length;
  const counts = { failed: count('failed'), warning: count('warning'), ok: count('ok'), skipped: count('skipped') };
  return { ...report, counts, checks };
}

/** Where a check's fix is made; undefined when the fix is outside the interface or on the current page. */
export function placeOfCheck(
  { id, area, projectId }: Pick<DoctorCheck, 'id' | 'area' | 'projectId'>,
  projects: readonly Pick<Project, 'id' | 'slug'>[],
): { place: Place; label: string } | undefined {
  if (area === 'trust' || area === 'root')
    return { place: { page: 'authority' }, label: 'Trust and root, under Certificates' };
  if (id === 'dns.resolver') return { place: placeOfField('Resolver'), label: 'Setting of the resolver' };
  const slug = projects.find((project) => project.id === projectId)?.slug;
  if (slug === undefined) return undefined;
  if (area === 'upstreams')
    return { place: { page: 'project', project: slug }, label: 'Deploy or change the target in its settings' };
  const item = id.slice(id.indexOf('.') + 1);
  return {
    place: { page: 'domains', project: slug, ...(item !== '' && { item }) },
    label: item === '' ? 'Domains' : 'Mend it at the domain',
  };
}

import { asCurl, posixWord } from '../../../main/base/text/shell.ts';
import type { Project } from '../../../main/contract/projects.ts';
import { rootFile } from '../../shared/project/first-request.ts';
import { columnFilters, type PetFilter, type PetsTab } from './pet-filter.ts';

/** The API's page limit. */
const LIMIT = 100;

export interface PetRequestOptions {
  project: Pick<Project, 'baseUrl' | 'secureBaseUrl'>;
  filter: Pick<PetFilter, 'environment' | 'status'>;
  tab: PetsTab;
  secure: boolean;
  /** The folder that contains `ca/root.pem`, for HTTPS. */
  dataDir: string;
}

/** The API request closest to the list: one environment, filtered by status; or the orders. */
export function petRequest({ project, filter, tab, secure, dataDir }: PetRequestOptions): string {
  const base = (secure ? project.secureBaseUrl : project.baseUrl)[filter.environment];
  const query = new URLSearchParams({
    limit: String(LIMIT),
    ...(filter.status !== undefined && { status: filter.status }),
  });
  const url = tab === 'orders' ? `${base}/store/orders` : `${base}/pets?${query.toString()}`;
  return asCurl(
    { method: 'GET', url, headers: [], body: undefined, authorized: true },
    secure ? [`--cacert ${posixWord(rootFile(dataDir))}`] : [],
  );
}

/** The parts of the list's filter that the API lacks, as a sentence; undefined without any. */
export function unsupportedByApi(filter: PetFilter) {
  const { search, sort, descending } = filter;
  const parts = [
    ...(search === '' ? [] : ['search']),
    ...(columnFilters(filter) === 0 ? [] : ['filter by column']),
    ...(sort === 'id' && !descending ? [] : ['order']),
  ];
  if (parts.length === 0) return undefined;
  return `The API filters by status and answers in the order of ids; the ${parts.join(' and the ')} here ${parts.length === 1 ? 'is' : 'are'} this page’s own.`;
}

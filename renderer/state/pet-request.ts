import { posixWord } from '../../main/base/shell.ts';
import type { Project } from '../../main/contract/projects.ts';
import { rootFile } from './first-request.ts';
import type { PetFilter, PetsTab } from './pet-filter.ts';

/** The most that the API gives at once. */
const LIMIT = 100;

export interface PetRequestOptions {
  project: Pick<Project, 'baseUrl' | 'secureBaseUrl'>;
  filter: Pick<PetFilter, 'environment' | 'status'>;
  tab: PetsTab;
  secure: boolean;
  /** The folder that holds `ca/root.pem`, for HTTPS. */
  dataDir: string;
}

/** The request that produces the list as far as the API can: of one environment, filtered by status; or the orders. */
export function petRequest({ project, filter, tab, secure, dataDir }: PetRequestOptions): string {
  const base = (secure ? project.secureBaseUrl : project.baseUrl)[filter.environment];
  const query = new URLSearchParams({
    limit: String(LIMIT),
    ...(filter.status !== undefined && { status: filter.status }),
  });
  return [
    'curl -H "Authorization: Bearer $VIVARIUM_KEY"',
    ...(secure ? [`--cacert ${posixWord(rootFile(dataDir))}`] : []),
    posixWord(tab === 'orders' ? `${base}/store/orders` : `${base}/pets?${query.toString()}`),
  ].join(' \\\n  ');
}

/** What of the list the API cannot do, in a sentence; undefined when it can do all of it. */
export function beyondTheApi({ search, sort, descending }: Pick<PetFilter, 'search' | 'sort' | 'descending'>) {
  const parts = [...(search === '' ? [] : ['search']), ...(sort === 'id' && !descending ? [] : ['order'])];
  if (parts.length === 0) return undefined;
  return `The API filters by status and answers in the order of ids; the ${parts.join(' and the ')} here ${parts.length === 1 ? 'is' : 'are'} this page’s own.`;
}

import type { Services } from '../contract/index.ts';
import type { StatusReport } from '../contract/status.ts';

export function createStatusServices(report: () => StatusReport): Services['status'] {
  return { get: report };
}

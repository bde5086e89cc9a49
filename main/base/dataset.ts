import type { Environment } from '../contract/values.ts';

/** One of a project's two datasets of pets and orders. */
export interface Dataset {
  projectId: string;
  environment: Environment;
}

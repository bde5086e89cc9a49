import type { Project, TargetSetting } from '../../../main/contract/projects.ts';
import { completeUrl } from '../../../main/contract/hostnames.ts';

/** A target as chosen and typed; fields are named by their input paths. */
export interface TargetValues extends Record<string, unknown> {
  target: TargetSetting['kind'];
  /** The other fields apply to an upstream only. */
  'target.url': string;
  'target.host': 'rewrite' | 'keep';
  'target.limited': boolean;
  /** Applies only if `target.limited` is set. */
  'target.withoutKey': 'free' | 'plan';
  'target.verifyCertificate': boolean;
  'target.checkPath': string;
}

export const API_TARGET: TargetValues = {
  target: 'api',
  'target.url': '',
  'target.host': 'rewrite',
  'target.limited': false,
  'target.withoutKey': 'free',
  'target.verifyCertificate': true,
  'target.checkPath': '',
};

/** The engine's input for the typed values. */
export function readTarget(values: TargetValues): TargetSetting {
  if (values.target === 'api') return { kind: 'api' };
  return {
    kind: 'upstream',
    url: completeUrl(values['target.url'].trim()),
    host: values['target.host'],
    limited: values['target.limited'],
    ...(values['target.limited'] && { withoutKey: values['target.withoutKey'] }),
    verifyCertificate: values['target.verifyCertificate'],
    ...(values['target.checkPath'].trim() !== '' && { checkPath: values['target.checkPath'].trim() }),
  };
}

/** Whether the plan's limits apply to the project's target. */
export const limitsHold = ({ target }: Pick<Project, 'target'>): boolean =>
  target.kind === 'api' || target.limited === true;

/** The server of a project, as one types it: `localhost:3000`; undefined for the built-in API. */
export const serverOf = ({ target }: Pick<Project, 'target'>): string | undefined =>
  target.kind === 'api' ? undefined : target.url.replace(/^http:\/\//, '').replace(/\/$/, '');

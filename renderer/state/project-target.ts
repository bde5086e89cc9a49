import type { Project, TargetSetting } from '../../main/contract/projects.ts';

/** A target as it is chosen and typed; each field is named by its place in the input. */
export interface TargetValues extends Record<string, unknown> {
  target: TargetSetting['kind'];
  /** The others are of an upstream only. */
  'target.url': string;
  'target.host': 'rewrite' | 'keep';
  'target.limited': boolean;
  'target.verifyCertificate': boolean;
}

export const API_TARGET: TargetValues = {
  target: 'api',
  'target.url': '',
  'target.host': 'rewrite',
  'target.limited': false,
  'target.verifyCertificate': true,
};

/** What stands in the fields for a project's target; what it leaves open stands there as the engine takes it. */
export function targetOf({ target }: Pick<Project, 'target'>): TargetValues {
  if (target.kind === 'api') return API_TARGET;
  return {
    target: 'upstream',
    'target.url': target.url,
    'target.host': target.host ?? 'rewrite',
    'target.limited': target.limited ?? false,
    'target.verifyCertificate': target.verifyCertificate ?? true,
  };
}

/** What is typed as the engine takes it. */
export function readTarget(values: TargetValues): TargetSetting {
  if (values.target === 'api') return { kind: 'api' };
  return {
    kind: 'upstream',
    url: values['target.url'],
    host: values['target.host'],
    limited: values['target.limited'],
    verifyCertificate: values['target.verifyCertificate'],
  };
}

/** Whether other fields stand there than those of a saved target; what the built-in API has no use for does not count. */
export function isOtherTarget(values: TargetValues, saved: TargetValues): boolean {
  return JSON.stringify(readTarget(values)) !== JSON.stringify(readTarget(saved));
}

/** Whether the limits of a project's plan hold for what it serves. */
export const limitsHold = ({ target }: Pick<Project, 'target'>): boolean =>
  target.kind === 'api' || target.limited === true;

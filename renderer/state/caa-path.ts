import type { CaaStep, CaaVerdict } from '../../main/contract/caa.ts';

/** One name on the way from the asked name up to the root. */
export interface PathStep {
  /** The labels that were left behind on the way here, with the dot: `www.`; empty at the beginning. */
  dropped: string;
  /** The name that is asked here; empty for the root. */
  name: string;
  decision: CaaStep['decision'] | 'not_asked';
  reason: string;
  /** In zone-file notation; `decisive` ones are what the verdict rests on. */
  records: readonly { text: string; decisive: boolean }[];
}

/** The whole way, what was not asked included, so that one sees how far the search went. */
export function pathOf({ trace, decisive }: CaaVerdict): PathStep[] {
  const first = trace[0]?.name ?? '';
  const asked = trace.map((step): PathStep => ({
    dropped: first.slice(0, first.length - step.name.length),
    name: step.name,
    decision: step.decision,
    reason: step.reason,
    records: step.records.map((text) => ({ text, decisive: decisive.includes(text) })),
  }));
  const above = namesAbove(trace.at(-1)?.name ?? '').map((name): PathStep => ({
    dropped: name === '' ? '' : first.slice(0, first.length - name.length),
    name,
    decision: 'not_asked',
    reason: name === '' ? 'The root has no CAA records; nobody asks it.' : 'Not asked: the search ended before it.',
    records: [],
  }));
  return [...asked, ...above];
}

/** The names above one, the root as the empty one last. */
function namesAbove(name: string): string[] {
  if (name === '') return [];
  const labels = name.split('.').slice(1);
  return [...labels.map((_label, index) => labels.slice(index).join('.')), ''];
}

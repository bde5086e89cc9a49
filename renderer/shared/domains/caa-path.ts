import type { CaaStep, CaaVerdict } from '../../../main/contract/certificates.ts';

/** One step of the walk from the queried name up to the root. */
export interface PathStep {
  /** The labels dropped so far, with the dot: `www.`; empty at the start. */
  dropped: string;
  /** The queried name; empty for the root. */
  name: string;
  decision: CaaStep['decision'] | 'not_asked';
  reason: string;
  /** In zone-file notation; the verdict rests on `decisive` ones. */
  records: readonly { text: string; decisive: boolean }[];
}

/** The whole path, including names beyond the end of the walk. */
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
    reason:
      name === '' ? 'The root has no CAA records and is never queried.' : 'Not queried: the walk ended before it.',
    records: [],
  }));
  return [...asked, ...above];
}

/** The ancestors of a name, ending with the root as the empty name. */
function namesAbove(name: string): string[] {
  if (name === '') return [];
  const labels = name.split('.').slice(1);
  return [...labels.map((_label, index) => labels.slice(index).join('.')), ''];
}

import type { DoctorCheck, DoctorReport, DoctorStatus } from './doctor.ts';

const COUNTED: Readonly<Record<DoctorStatus, string>> = {
  failed: 'failed',
  warning: 'in need of attention',
  ok: 'in order',
  skipped: 'not checked',
};

/** Whether it is red: a failure, or what is as broken as its own badge says. */
export const isBad = ({ status, down }: DoctorCheck): boolean => status === 'failed' || down === true;

/** A report in the words of the window and the command line: its worst, and the counts of the rest. */
export function verdictOf(counts: DoctorReport['counts']): { title: string; rest: string } {
  const { failed, warning } = counts;
  const present = (Object.keys(COUNTED) as DoctorStatus[]).filter((status) => counts[status] > 0);
  const rest = present.slice(failed > 0 || warning > 0 ? 1 : 0).map((status) => `${counts[status]} ${COUNTED[status]}`);
  return { title: titleOf(failed, warning), rest: rest.join(', ') };
}

function titleOf(failed: number, warning: number): string {
  if (failed > 0) return failed === 1 ? 'One check failed' : `${failed} checks failed`;
  if (warning > 0) return warning === 1 ? 'One thing needs attention' : `${warning} things need attention`;
  return 'All is well';
}

import { describe, expect, it } from 'vitest';
import type { DoctorReport } from '../../../main/contract/doctor.ts';
import { renderReport } from '../../../main/cli/doctor.ts';
import { createStyle, widthOf } from '../../../main/cli/text/text.ts';

const LONG = 'It answers at 127.0.0.1 and at ::1, and so does every other name that ends in the zone of this machine.';

const check = { area: 'dns' as const, evidence: [LONG] };
const REPORT: DoctorReport = {
  ...{ checkedAt: '2026-11-20T09:00:00.000Z', elapsedMs: 12, running: true },
  counts: { failed: 1, warning: 0, ok: 1, skipped: 0 },
  checks: [
    { ...check, id: 'dns.local', title: 'Local DNS', status: 'ok' },
    {
      ...{ ...check, id: 'dns.system', title: 'System DNS', status: 'failed' },
      ...{ fix: LONG, commands: 'one', otherwise: 'two' },
    },
  ],
};

const linesOf = (width: number | null) => renderReport(REPORT, { style: createStyle(false), width }).split('\n');

describe('the doctor’s report', () => {
  it.each([30, 40, 80, 120])('fits a terminal of %i cells', (width) => {
    const lines = linesOf(width);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
    const text = lines.join(' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain(`ok Local DNS ${LONG} failed`);
    expect(text).toContain(`System DNS ${LONG} → ${LONG} one or two`);
  });

  it('is not cut without a width', () => {
    expect(linesOf(null)).toEqual([
      `ok  Local DNS  ${LONG}`,
      '',
      'failed  System DNS',
      `    ${LONG}`,
      `  → ${LONG}`,
      '        one',
      '    or',
      '        two',
      '',
      'One check failed; 1 in order.',
      '',
    ]);
  });

  it('marks and orders checks, and sums them up, as the window does', () => {
    const known = { ...check, evidence: [], id: 'dns.known', title: 'Known', status: 'warning' as const };
    const down = { ...known, id: 'domains.shop', title: 'Shop', down: true as const };
    const report = { ...REPORT, counts: { failed: 0, warning: 2, ok: 0, skipped: 0 }, checks: [down, known] };
    const text = renderReport(report, { style: createStyle(false), width: null });
    expect(text).toBe('\nwarning  Known\n\ndown  Shop\n\n2 things need attention.\n');
  });
});

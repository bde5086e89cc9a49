import { describe, expect, it } from 'vitest';
import { formatJunit, formatMarkdown, formatReport, hasFailed, type Report } from '../../../main/rehearsal/report.ts';

const CLOCK = { title: 'clock +60d', outcome: 'passed', reasons: [] } as const;
const PASSED: Report = {
  ...{ file: 'shop.yaml', command: 'vivarium rehearse shop.yaml', steps: [CLOCK], expectations: [] },
};

const FAILED: Report = {
  ...PASSED,
  command: "vivarium rehearse 'my `shop`.yaml'",
  steps: [
    CLOCK,
    { title: 'run a <b> | "c" & d\u0007', outcome: 'failed', reasons: ['the exit code is 1, not 0', '*second*'] },
    { title: 'dns a.test', outcome: 'skipped', reasons: [] },
  ],
  expectations: [{ title: 'traffic status:5xx: 0', outcome: 'skipped', reasons: [] }],
};

describe('the report', () => {
  it('has a line for each step', () => {
    expect(hasFailed(PASSED)).toBe(false);
    expect(formatReport(PASSED)).toBe('shop.yaml\n\n  ✓ clock +60d\n\n1 passed, 0 failed\n');
  });

  it('begins with the command that repeats a failure', () => {
    expect(hasFailed(FAILED)).toBe(true);
    expect(formatReport(FAILED).split('\n')).toEqual([
      "Repeat it with: vivarium rehearse 'my `shop`.yaml'",
      '',
      'shop.yaml',
      '',
      '  ✓ clock +60d',
      '  ✗ run a <b> | "c" & d\u0007',
      '      the exit code is 1, not 0',
      '      *second*',
      '  - dns a.test',
      '',
      '  - traffic status:5xx: 0',
      '',
      '1 passed, 1 failed, 2 not run',
      '',
    ]);
  });

  it('is Markdown without markup from the steps', () => {
    const lines = formatMarkdown(FAILED).split('\n');
    expect(lines[0]).toBe('## shop.yaml: 1 passed, 1 failed, 2 not run');
    expect(lines[2]).toBe("Repeat it with: `` vivarium rehearse 'my `shop`.yaml' ``");
    expect(lines[7]).toBe('| ✗ | run a \\<b\\> \\| "c" \\& d\u0007 | the exit code is 1, not 0; \\*second\\* |');
    expect(formatMarkdown(PASSED)).not.toContain('Repeat');
  });

  it('is JUnit’s XML, without characters that XML does not allow', () => {
    expect(formatJunit(FAILED)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="shop.yaml" tests="4" failures="1">
  <testsuite name="shop.yaml: steps" tests="3" failures="1" skipped="1">
    <testcase classname="shop.yaml" name="clock +60d"/>
    <testcase classname="shop.yaml" name="run a &lt;b&gt; | &quot;c&quot; &amp; d\ufffd"><failure message="the exit code is 1, not 0">Repeat it with: vivarium rehearse 'my \`shop\`.yaml'
the exit code is 1, not 0
*second*</failure></testcase>
    <testcase classname="shop.yaml" name="dns a.test"><skipped/></testcase>
  </testsuite>
  <testsuite name="shop.yaml: expectations" tests="1" failures="0" skipped="1">
    <testcase classname="shop.yaml" name="traffic status:5xx: 0"><skipped/></testcase>
  </testsuite>
</testsuites>
`);
  });
});

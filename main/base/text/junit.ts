export interface Result {
  title: string;
  /** `skipped`: an earlier step failed, or there was nothing to see. */
  outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped, or what restricts its success, in sentences. */
  reasons: readonly string[];
}

export interface Suite {
  name: string;
  results: readonly Result[];
}

/** JUnit XML of any suites. Times are omitted, because they vary. */
export function formatSuites(file: string, command: string, suites: readonly Suite[]): string {
  const count = (results: readonly Result[], outcome: Result['outcome']) =>
    results.filter((result) => result.outcome === outcome).length;
  const all = suites.flatMap(({ results }) => results);
  const lines = suites.flatMap(({ name, results }) => {
    const counted = `failures="${count(results, 'failed')}" skipped="${count(results, 'skipped')}"`;
    return [
      `  <testsuite name="${xml(name)}" tests="${results.length}" ${counted}>`,
      ...results.flatMap((result) => caseOf(file, command, result)),
      '  </testsuite>',
    ];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(file)}" tests="${all.length}" failures="${count(all, 'failed')}">`,
    ...lines,
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf(file: string, command: string, { title, outcome, reasons }: Result): string[] {
  const start = `    <testcase classname="${xml(file)}" name="${xml(title)}"`;
  const said = xml(reasons.join('\n'));
  if (outcome === 'passed')
    return [said === '' ? `${start}/>` : `${start}><system-out>${said}</system-out></testcase>`];
  if (outcome === 'skipped') return [`${start}><skipped${said === '' ? '' : ` message="${said}"`}/></testcase>`];
  const detail = xml([`Repeat it with: ${command}`, ...reasons].join('\n'));
  return [`${start}><failure message="${xml(reasons[0] ?? '')}">${detail}</failure></testcase>`];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for XML 1.0, which excludes most control characters (section 2.2). */
const xml = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- these are the characters that XML cannot have
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

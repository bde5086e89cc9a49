import { describe, expect, it } from 'vitest';
import { withCommandLines, failureText } from '../../../../main/cli/words/command-line.ts';
import { chooseProject } from '../../../../main/cli/words/default-project.ts';
import { listFields } from '../../../../main/cli/words/fields.ts';
import { findProcedure } from '../../../../main/cli/words/procedures.ts';
import { mention } from '../../../../main/contract/calls.ts';

const asItIs = (command: string) => command;

describe('an engine’s message on the command line', () => {
  it.each([
    ['List them: `projects.list`.', 'List them: vivarium project list'],
    [
      'Extend it: `ca.extend {"suffix":"acme.dev"}`. Then trust it: `ca.trust`',
      'Extend it: "vivarium ca extend acme.dev". Then trust it: vivarium ca trust',
    ],
    [
      'Change it: `projects.update {"projectId":"my app","plan":"pro"}`.',
      "Change it: vivarium project update 'my app' --plan pro",
    ],
    ['`zones.nope`, `nope.list` and `ca.extend {broken}` stay'],
  ])('%s', (text, shown = text) => {
    expect(withCommandLines(text, asItIs)).toBe(shown);
  });

  it('is printed as the call that the engine wrote', () => {
    const text = mention('projects.update', { projectId: 'demo', plan: 'pro' });
    expect(text).toBe('`projects.update {"projectId":"demo","plan":"pro"}`');
    expect(withCommandLines(text, asItIs)).toBe('vivarium project update demo --plan pro');
    expect(withCommandLines(mention('status.get'), asItIs)).toBe('vivarium status');
  });

  const AMBIGUOUS = '2 projects have the name "A"; use a slug: a, a-2.';
  const INVALID = 'A: "999.1.1.1" is not an IPv4 address.';
  it.each([
    ['records.put', `value: ${INVALID}`, 'value', `VALUE: ${INVALID}`],
    [
      'projects.create',
      'limits.perMinute is required; slug must be short.',
      'limits.perMinute slug',
      '--limits.per-minute is required; --slug must be short.',
    ],
    ['keys.list', `projectId: ${AMBIGUOUS}`, 'projectId', `PROJECT: ${AMBIGUOUS}`],
    ['zones.create', 'name: "name: x" is a name.', 'name', 'NAME: "name: x" is a name.'],
    ['zones.create', 'The zone is full.', '', 'The zone is full.'],
  ])('of %s names what the usage line names: %s', (call, message, paths, text) => {
    const [namespace = '', name = ''] = call.split('.');
    const fields = listFields(findProcedure(namespace, name));
    const issues = paths.split(' ').map((path) => ({ path, message: '' }));
    expect(failureText({ code: 'invalid_request', message, issues }, fields, asItIs)).toBe(text);
  });
});

describe('the default project of a command', () => {
  const [demo, app] = [{ slug: 'demo' }, { slug: 'app' }];

  it.each([
    ['the only one, whatever the folder is called', [demo], ['elsewhere'], demo],
    ['the one named like the folder or its package', [demo, app], ['shop', 'app'], app],
  ])('is %s', (_which, projects, names, chosen) => {
    expect(chooseProject(projects, names)).toBe(chosen);
  });
  it('is not guessed among several', () => {
    expect(() => chooseProject([demo, app], ['shop'])).toThrow('Name a project; there are demo, app.');
    expect(() => chooseProject([], ['shop'])).toThrow('There is no project yet.');
  });
});

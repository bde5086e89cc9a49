// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import {
  RedirectEditor,
  type Redirect,
} from '../../../../../../renderer/pages/domains/routing/redirect-editor.svelte.ts';
import { refusal } from '../../../../../support/fake-client.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

const STORED: Redirect[] = [{ from: 'a.acme.test', to: 'b.acme.test', status: 302 }];

function setUp(...issues: { path: string; message: string }[]) {
  let stored: readonly Redirect[] = STORED;
  const text = issues.map(({ path, message }) => `${path} ${message}`).join('; ');
  const parts = pageParts({
    'domains.setRedirects': ({ redirects }: { redirects: Redirect[] }) => {
      if (issues.length > 0) throw refusal('invalid_request', text, ...issues);
      stored = redirects;
    },
  });
  const { client, toasts } = parts;
  const editor = new RedirectEditor({ client, toasts, projectId: 'prj_shop', stored: () => stored });
  return { ...parts, editor, elsewhere: (redirects: Redirect[]) => (stored = redirects), stored: () => stored };
}

describe('the redirects while they are edited', () => {
  it('are the stored ones until something is changed, and again when that is discarded', () => {
    const { editor } = setUp();
    expect([editor.edited, editor.rows.map(({ from, to, status }) => `${from} ${to} ${status}`)]).toEqual([
      false,
      ['a.acme.test b.acme.test 302'],
    ]);
    editor.add('c.acme.test');
    editor.change(0, { status: '308' });
    expect([editor.edited, editor.rows.map(({ from, status }) => `${from} ${status}`)]).toEqual([
      true,
      ['a.acme.test 308', 'c.acme.test 301'],
    ]);
    editor.discard();
    expect([editor.edited, editor.rows.length]).toEqual([false, 1]);
  });

  it('are saved as a whole, and can be undone', async () => {
    const { editor, undo, stored } = setUp();
    editor.add(' c.acme.test ');
    editor.change(1, { to: 'a.acme.test' });
    editor.remove(0);
    expect(await editor.save()).toBe(true);
    expect([editor.edited, stored()]).toEqual([false, [{ from: 'c.acme.test', to: 'a.acme.test', status: 301 }]]);
    await undo();
    expect(stored()).toEqual(STORED);
  });

  it.each([
    ['https://c.acme.test', { hsts: true }],
    [' https://c.acme.test ', { hsts: true }],
    ['d.acme.test', {}],
  ])('make browsers remember HTTPS only if they lead to it: %j', async (to, hsts) => {
    const { editor, stored } = setUp();
    editor.change(0, { from: 'c.acme.test', to, hsts: true });
    await editor.save();
    expect(stored()).toEqual([{ from: 'c.acme.test', to: to.trim(), status: 302, ...hsts }]);
  });

  it('show the engine’s message at the field that it names, and keep what was typed', async () => {
    const { editor } = setUp(
      { path: 'redirects[1].to', message: 'forms a loop: a → b → a; remove one of these redirects.' },
      { path: 'redirects[0].from', message: 'must be a domain of this project' },
    );
    editor.add('b.acme.test');
    expect(await editor.save()).toBe(false);
    expect([editor.fault(0, 'from'), editor.fault(1, 'to'), editor.fault(0, 'to'), editor.failure]).toEqual([
      'must be a domain of this project',
      'forms a loop: a → b → a; remove one of these redirects.',
      undefined,
      undefined,
    ]);
    expect(editor.rows).toHaveLength(2);
  });

  it('show the whole message if only a part belongs to a field', async () => {
    const { editor } = setUp(
      { path: 'redirects[0].to', message: 'forms a loop' },
      { path: 'redirects', message: 'must have at most 100 entries' },
    );
    editor.add();
    await editor.save();
    expect([editor.fault(0, 'to'), editor.failure]).toEqual([
      'forms a loop',
      'redirects[0].to forms a loop; redirects must have at most 100 entries',
    ]);
  });

  it('show the message above the form if it names no field', async () => {
    const { editor } = setUp({ path: 'redirects', message: 'must have at most 100 entries' });
    editor.add();
    await editor.save();
    expect(editor.failure).toContain('at most 100');
  });

  it('notice that they were changed elsewhere meanwhile', () => {
    const { editor, elsewhere } = setUp();
    editor.add();
    expect(editor.isOutdated).toBe(false);
    elsewhere([]);
    expect(editor.isOutdated).toBe(true);
    editor.discard();
    expect([editor.isOutdated, editor.rows]).toEqual([false, []]);
  });
});

// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { DomainConfiguration } from '../../../../../../main/contract/domains.ts';
import { ConfigurationEditor } from '../../../../../../renderer/pages/domains/routing/configuration-editor.svelte.ts';
import { refusal } from '../../../../../support/fake-client.ts';
import { settle } from '../../../../../support/fake-clock.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

async function setUp(refused?: string) {
  let stored: DomainConfiguration = { domains: ['a.acme.test'], primary: null, redirects: [] };
  const parts = pageParts({
    'domains.export': () => stored,
    'domains.import': ({ configuration }: { configuration: Partial<DomainConfiguration> }) => {
      if (refused !== undefined) throw refusal('invalid_request', refused);
      const domains = [...new Set([...stored.domains, ...(configuration.domains ?? [])])];
      return (stored = { ...stored, ...configuration, domains });
    },
    'domains.remove': ({ hostname }: { hostname: string }) => {
      stored = { ...stored, domains: stored.domains.filter((other) => other !== hostname) };
    },
  });
  const editor = new ConfigurationEditor({ ...parts.source, toasts: parts.toasts, projectId: 'prj_shop' });
  await settle();
  const change = async (configuration: DomainConfiguration) => {
    stored = configuration;
    await parts.tell('domains.changed');
  };
  return { ...parts, editor, change, stored: () => stored };
}

describe('the configuration as JSON', () => {
  it('follows the stored configuration until it is edited', async () => {
    const { editor, change } = await setUp();
    expect(JSON.parse(editor.text)).toEqual({ domains: ['a.acme.test'], primary: null, redirects: [] });
    await change({ domains: ['b.acme.test'], primary: 'b.acme.test', redirects: [] });
    expect(JSON.parse(editor.text)).toMatchObject({ primary: 'b.acme.test' });
    editor.text = '{ "primary": null }';
    await change({ domains: [], primary: null, redirects: [] });
    expect([editor.edited, editor.text]).toEqual([true, '{ "primary": null }']);
    editor.discard();
    expect(JSON.parse(editor.text)).toMatchObject({ domains: [] });
  });

  it('reports invalid JSON without calling the engine', async () => {
    const { editor, changed } = await setUp();
    editor.text = '{ "primary": ';
    expect(await editor.apply()).toBe(false);
    expect(editor.fault).toMatch(/^This is not JSON: /);
    expect(changed()).toEqual([]);
  });

  it('shows the engine’s message, and keeps the text', async () => {
    const { editor } = await setUp('configuration.primary: must be one of the domains');
    editor.text = '{ "primary": "x.acme.test" }';
    expect(await editor.apply()).toBe(false);
    expect([editor.fault, editor.edited]).toEqual(['configuration.primary: must be one of the domains', true]);
  });

  it('is applied and undone: what it attached is removed', async () => {
    const { editor, said, undo, stored } = await setUp();
    editor.text = '{ "domains": ["a.acme.test", "b.acme.test"], "primary": "a.acme.test" }';
    expect(await editor.apply()).toBe(true);
    expect(stored()).toMatchObject({ domains: ['a.acme.test', 'b.acme.test'], primary: 'a.acme.test' });
    expect(said()[0]).toContain('Attached: b.acme.test');
    await undo();
    expect(stored()).toEqual({ domains: ['a.acme.test'], primary: null, redirects: [] });
  });
});

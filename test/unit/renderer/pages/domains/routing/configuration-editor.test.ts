// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { DomainConfiguration } from '../../../../../../main/contract/domains.ts';
import type { InputIssue } from '../../../../../../main/contract/errors.ts';
import { ConfigurationEditor } from '../../../../../../renderer/pages/domains/routing/configuration-editor.svelte.ts';
import { refusal } from '../../../../../support/fake-client.ts';
import { settle } from '../../../../../support/fake-clock.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

async function setUp(refused?: InputIssue[]) {
  let stored: DomainConfiguration = { domains: ['a.acme.test'], primary: null, redirects: [] };
  const parts = pageParts({
    'domains.export': () => stored,
    'domains.import': ({ configuration }: { configuration: Partial<DomainConfiguration> }) => {
      if (refused !== undefined) throw refusal('invalid_request', 'It is refused.', ...refused);
      const domains = [...new Set([...stored.domains, ...(configuration.domains ?? [])])];
      return (stored = { ...stored, ...configuration, domains });
    },
    'domains.remove': ({ hostname }: { hostname: string }) => {
      stored = { ...stored, domains: stored.domains.filter((other) => other !== hostname) };
    },
  });
  const { form } = new ConfigurationEditor({ ...parts.source, toasts: parts.toasts, projectId: 'prj_shop' });
  await settle();
  const change = async (configuration: DomainConfiguration) => {
    stored = configuration;
    await parts.tell('domains.changed');
  };
  return { ...parts, form, change, stored: () => stored };
}

describe('the configuration as JSON', () => {
  it('follows the stored configuration until it is edited', async () => {
    const { form, change } = await setUp();
    expect(JSON.parse(form.values.text)).toEqual({ domains: ['a.acme.test'], primary: null, redirects: [] });
    await change({ domains: ['b.acme.test'], primary: 'b.acme.test', redirects: [] });
    expect(JSON.parse(form.values.text)).toMatchObject({ primary: 'b.acme.test' });
    form.values.text = '{ "primary": null }';
    await change({ domains: [], primary: null, redirects: [] });
    expect([form.typed !== undefined, form.values.text]).toEqual([true, '{ "primary": null }']);
    form.reset(form.saved);
    expect(JSON.parse(form.values.text)).toMatchObject({ domains: [] });
  });

  it('reports invalid JSON without calling the engine', async () => {
    const { form, changed } = await setUp();
    form.values.text = '{ "primary": ';
    expect(await form.submit()).toBeUndefined();
    expect(form.fault('text')).toMatch(/^This is not JSON: /);
    expect(changed()).toEqual([]);
  });

  it('shows each fault at its place in the text, which it keeps', async () => {
    const issues = [
      { path: 'configuration.domains[0]', message: 'contains a space' },
      { path: 'configuration.primary', message: 'must be one of the domains' },
    ];
    const { form } = await setUp(issues);
    form.values.text = '{ "domains": ["a b.test"], "primary": "x.acme.test" }';
    expect(await form.submit()).toBeUndefined();
    expect(form.fault('text')).toBe('“domains[0]”: contains a space\n“primary”: must be one of the domains');
    expect(form.typed).toBeDefined();
  });

  it('is applied and undone: what it attached is removed', async () => {
    const { form, said, undo, stored } = await setUp();
    form.values.text = '{ "domains": ["a.acme.test", "b.acme.test"], "primary": "a.acme.test" }';
    expect(await form.submit()).toBeDefined();
    expect(stored()).toMatchObject({ domains: ['a.acme.test', 'b.acme.test'], primary: 'a.acme.test' });
    expect(said()[0]).toContain('Attached: b.acme.test');
    await undo();
    expect(stored()).toEqual({ domains: ['a.acme.test'], primary: null, redirects: [] });
  });
});

// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import type { DomainConfiguration } from '../../../../../../main/contract/domains.ts';
import { ConfigurationEditor } from '../../../../../../renderer/pages/domains/routing/configuration-editor.svelte.ts';
import { Toasts } from '../../../../../../renderer/shared/session/toasts.svelte.ts';
import { fakeChanges, fakeClient } from '../../../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../../../support/fake-clock.ts';

async function setUp(refusal?: string) {
  const time = createFakeClock();
  const changes = fakeChanges();
  const toasts = new Toasts(time);
  let stored: DomainConfiguration = { domains: ['a.acme.test'], primary: null, redirects: [] };
  const fake = fakeClient({
    'domains.export': () => stored,
    'domains.import': ({ configuration }: { configuration: Partial<DomainConfiguration> }) => {
      if (refusal !== undefined) throw new ORPCError('invalid_request', { message: refusal });
      const domains = [...new Set([...stored.domains, ...(configuration.domains ?? [])])];
      return (stored = { ...stored, ...configuration, domains });
    },
    'domains.remove': ({ hostname }: { hostname: string }) => {
      stored = { ...stored, domains: stored.domains.filter((other) => other !== hostname) };
    },
  });
  const editor = new ConfigurationEditor({ client: fake.client, changes, time, toasts, projectId: 'prj_shop' });
  await settle();
  const change = async (configuration: DomainConfiguration) => {
    stored = configuration;
    await time.pass(5_000);
    changes.tell({ type: 'domains.changed', at: '2026-11-20T09:00:00.000Z' });
    await settle();
  };
  return { ...fake, editor, toasts, change, stored: () => stored };
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
    const { editor, changes } = await setUp();
    editor.text = '{ "primary": ';
    expect(await editor.apply()).toBe(false);
    expect(editor.fault).toMatch(/^This is not JSON: /);
    expect(changes()).toEqual([]);
  });

  it('shows the engine’s message, and keeps the text', async () => {
    const { editor } = await setUp('configuration.primary: must be one of the domains');
    editor.text = '{ "primary": "x.acme.test" }';
    expect(await editor.apply()).toBe(false);
    expect([editor.fault, editor.edited]).toEqual(['configuration.primary: must be one of the domains', true]);
  });

  it('is applied and undone: what it attached is removed', async () => {
    const { editor, toasts, stored } = await setUp();
    editor.text = '{ "domains": ["a.acme.test", "b.acme.test"], "primary": "a.acme.test" }';
    expect(await editor.apply()).toBe(true);
    expect(stored()).toMatchObject({ domains: ['a.acme.test', 'b.acme.test'], primary: 'a.acme.test' });
    expect(toasts.list[0]?.text).toContain('Attached: b.acme.test');
    toasts.undoLast();
    await settle();
    await settle();
    expect(stored()).toEqual({ domains: ['a.acme.test'], primary: null, redirects: [] });
  });
});

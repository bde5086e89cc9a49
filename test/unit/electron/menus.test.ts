import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, it } from 'vitest';
import { contextTemplate, menuTemplate, trayStatus, trayTemplate } from '../../../main/electron/menu.ts';
import type { MenuActions } from '../../../main/electron/menu.ts';

const NAMES = ['showWindow', 'openInBrowser', 'showLogs', 'showDataFolder', 'prepareToRemove', 'showReleases'] as const;
const ALL = [...NAMES, 'goBack', 'goForward', 'quit'] as const;

function recorder() {
  const done: string[] = [];
  const actions = Object.fromEntries(ALL.map((name) => [name, () => done.push(name)])) as unknown as MenuActions;
  return { done, actions };
}

/** The menu as an indented text; `--` is a separator, roles are in brackets. */
function outline(items: readonly MenuItemConstructorOptions[], indent = ''): string[] {
  return items.flatMap(({ label, role, type, submenu }) => [
    `${indent}${type === 'separator' ? '--' : (label ?? `[${String(role)}]`)}`,
    ...(Array.isArray(submenu) ? outline(submenu, `${indent}  `) : []),
  ]);
}

const all = (items: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions[] =>
  items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? all(item.submenu) : [])]);

/** Chooses an item of the menu by its label; returns what was done. */
function choose(label: string, version?: string): string[] {
  const { actions, done } = recorder();
  const item = all(menuTemplate('linux', actions, [], undefined, version)).find((other) => other.label === label);
  (item?.click as (() => void) | undefined)?.();
  return done;
}

describe('the menu', () => {
  it('of macOS begins with the app’s own', () => {
    const first = outline(menuTemplate('darwin', recorder().actions)).slice(0, 3);
    expect(first).toEqual(['Vivarium', '  About Vivarium', '  --']);
  });

  it.each(['linux', 'win32'] as const)(
    'of %s ends File with quitting, and Help with the app’s description',
    (platform) => {
      const lines = outline(menuTemplate(platform, recorder().actions));
      expect(lines[0]).toBe('&File');
      expect(lines[lines.indexOf('&Edit') - 1]).toMatch(/Quit Vivarium|E&xit Vivarium/);
      expect(lines.at(-1)).toBe('  About Vivarium');
    },
  );

  it.each([
    ['Open in Browser', 'openInBrowser'],
    ['Show Data Folder', 'showDataFolder'],
    ['Show Logs', 'showLogs'],
    ['Prepare to Remove…', 'prepareToRemove'],
    ['Back', 'goBack'],
    ['Forward', 'goForward'],
    ['Quit Vivarium', 'quit'],
  ])('does what "%s" promises', (label, action) => {
    expect(choose(label)).toEqual([action]);
  });

  it('links to a newer version, once there is one', () => {
    expect(choose('Get Vivarium 0.2.0…', '0.2.0')).toEqual(['showReleases']);
  });
});

describe('the menu at the pointer', () => {
  const NOTHING = { linkURL: '', selectionText: '', isEditable: false };
  const CAN = { canCut: true, canCopy: true, canPaste: false, canSelectAll: true };

  it.each<[what: string, at: Partial<Parameters<typeof contextTemplate>[0]>, lines: string[]]>([
    ['a field', { isEditable: true, selectionText: 'a' }, ['[cut]', '[copy]', '[paste]', '--', '[selectAll]']],
    ['selected text', { selectionText: 'a log line' }, ['[copy]', '--', '[selectAll]']],
    ['a link', { linkURL: 'https://shop.acme.test/' }, ['Copy Link', '--', 'Back', 'Forward', '[reload]']],
    ['a link of the page itself', { linkURL: 'app://vivarium/pets' }, ['Back', 'Forward', '[reload]']],
    ['anything else', {}, ['Back', 'Forward', '[reload]']],
  ])('of %s', (_what, at, lines) => {
    const history = { canGoBack: () => true, canGoForward: () => false };
    const template = contextTemplate({ ...NOTHING, editFlags: CAN, ...at }, history, {
      ...recorder().actions,
      copy: () => undefined,
    });
    expect(outline(template)).toEqual(lines);
    const enabled = template.filter(({ role, label }) => role === 'paste' || label === 'Forward');
    expect(enabled.every((item) => item.enabled === false)).toBe(true);
  });
});

describe('the tray', () => {
  const COUNTS = { projects: 1, domains: 3 };
  const PORTS = { http: 8080, https: 8443, dns: 5380, control: 4780 };

  it('shows where Vivarium serves, and the available actions', () => {
    const { actions } = recorder();
    expect(outline(trayTemplate(trayStatus({ ports: PORTS, counts: COUNTS, warnings: [] }), actions))).toEqual([
      'Serving HTTP 8080, HTTPS 8443, DNS 5380',
      '1 project, 3 custom domains',
      '--',
      'Open Vivarium',
      'Open in Browser',
      '--',
      'Quit Vivarium',
    ]);
  });

  it('reports problems in a few short lines', () => {
    const warnings = ['The app’s clock is frozen.', 'x'.repeat(200), 'c', 'd', 'e'];
    const [, , first, second, third, rest, ...none] = trayStatus({ ports: PORTS, counts: COUNTS, warnings });
    expect([first, third, rest, none]).toEqual(['! The app’s clock is frozen.', '! c', '! and 2 more', []]);
    expect(second).toHaveLength(82);
    expect(second?.endsWith('…')).toBe(true);
  });
});

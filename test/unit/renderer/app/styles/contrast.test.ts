import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** WCAG 2.2: text needs 4.5:1 (1.4.3), in high contrast 7:1 (1.4.6); the outline of a control 3:1 (1.4.11). */
const css = readFileSync(new URL('../../../../../renderer/app/styles/tokens.css', import.meta.url), 'utf8');
const [ordinary = '', moreContrast = ''] = css.split('@media (prefers-contrast: more)');

type Theme = 'light' | 'dark';

function palette(text: string, theme: Theme): Record<string, string> {
  const found = text.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g);
  return Object.fromEntries(
    [...found].map(([, name, light, dark]) => [name ?? '', (theme === 'light' ? light : dark) ?? '']),
  );
}

/** Relative luminance of `#rrggbb` (WCAG 2.2, definitions). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((index) => Number.parseInt(colour.slice(index, index + 2), 16) / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ['ground', 'rail', 'surface', 'sunken', 'hover', 'chosen'];
const SOFT = ['moss-soft', 'amber-soft', 'brick-soft', 'water-soft'];
const TEXT: [string, string[]][] = [
  ['text', [...GROUNDS, ...SOFT]],
  ['text-muted', [...GROUNDS, ...SOFT]],
  ['moss', ['surface', 'ground', 'rail']],
  ['amber', ['surface', 'amber-soft']],
  ['brick', ['surface', 'brick-soft']],
  ['water', ['surface', 'water-soft']],
];
const MARKS: [string, string[]][] = [
  ['line-strong', ['surface', 'sunken', 'rail']],
  ['focus', GROUNDS],
];

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  const usual = palette(ordinary, theme);
  const high = { ...usual, ...palette(moreContrast, theme) };

  const pairs = (list: [string, string[]][]) => list.flatMap(([one, others]) => others.map((other) => [one, other]));

  it.each(pairs(TEXT))('%s on %s is legible', (one = '', other = '') => {
    expect(contrast(usual[one] ?? '', usual[other] ?? '')).toBeGreaterThanOrEqual(4.5);
  });

  it.each(pairs(MARKS))('%s is visible on %s', (one = '', other = '') => {
    expect(contrast(usual[one] ?? '', usual[other] ?? '')).toBeGreaterThanOrEqual(3);
  });

  it('text is legible on a moss button', () => {
    expect(contrast(usual['on-moss'] ?? '', usual['moss'] ?? '')).toBeGreaterThanOrEqual(4.5);
  });

  it('text is legible on a brick button', () => {
    expect(contrast(usual['on-moss'] ?? '', usual['brick'] ?? '')).toBeGreaterThanOrEqual(4.5);
    expect(contrast(high['on-moss'] ?? '', high['brick'] ?? '')).toBeGreaterThanOrEqual(7);
  });

  it.each(pairs(TEXT))('%s on %s is legible in high contrast', (one = '', other = '') => {
    expect(contrast(high[one] ?? '', high[other] ?? '')).toBeGreaterThanOrEqual(7);
  });
});

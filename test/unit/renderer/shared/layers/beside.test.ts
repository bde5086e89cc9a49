import { describe, expect, it } from 'vitest';
import { besideOf } from '../../../../../renderer/shared/layers/beside.ts';

const VIEW = { width: 1_000, height: 600 };
const PANEL = { width: 300, height: 200 };
const button = (left: number, top: number) => ({ left, top, right: left + 100, bottom: top + 30 });

describe('beside', () => {
  const HIGH = { width: 300, height: 900 };
  it.each([
    ['below its button, at the same start', button(400, 100), 'start', PANEL, [400, 136, 456]],
    ['below it, at the same end', button(400, 100), 'end', PANEL, [200, 136, 456]],
    ['below it, centred', button(400, 100), 'center', PANEL, [300, 136, 456]],
    ['above it, where there is more room', button(400, 500), 'start', PANEL, [400, 294, 486]],
    ['within the window on the right', button(890, 100), 'start', PANEL, [684, 136, 456]],
    ['within the window on the left', button(20, 100), 'end', PANEL, [16, 136, 456]],
    ['below it and as high as the window permits', button(400, 100), 'start', HIGH, [400, 136, 456]],
    ['above it and as high as the window permits', button(400, 400), 'start', HIGH, [400, 8, 386]],
  ] as const)('places a panel %s', (_where, anchor, align, panel, [x, y, room]) => {
    expect(besideOf(anchor, panel, VIEW, { align, gap: 6 })).toEqual({ x, y, room });
  });
});

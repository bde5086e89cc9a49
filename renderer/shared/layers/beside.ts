/** In pixels, to the top and bottom of the window, and to its sides, as of a narrow page. */
const MARGIN = 8;
const SIDE = 16;

interface Size {
  width: number;
  height: number;
}

export interface Beside {
  align: 'start' | 'center' | 'end';
  /** In pixels, between a panel and its anchor. */
  gap: number;
}

/**
 * Where a panel lies, in pixels from the top left of the window: below its anchor, or above where there is more room;
 * and how high it can be there.
 */
export function besideOf(
  anchor: Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>,
  panel: Size,
  view: Size,
  { align, gap }: Beside,
): { x: number; y: number; room: number } {
  const { left, right, top, bottom } = anchor;
  const below = view.height - bottom - gap - MARGIN;
  const above = top - gap - MARGIN;
  const isBelow = panel.height <= below || below >= above;
  const room = Math.max(0, isBelow ? below : above);
  const x = { start: left, center: (left + right - panel.width) / 2, end: right - panel.width }[align];
  return {
    x: Math.max(SIDE, Math.min(x, view.width - SIDE - panel.width)),
    y: isBelow ? bottom + gap : top - gap - Math.min(panel.height, room),
    room,
  };
}

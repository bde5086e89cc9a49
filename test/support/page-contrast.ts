import type { CDPSession, Page } from 'playwright-core';

/** WCAG 2.2 §1.4.3. */
const CONTRAST_MIN = 4.5;

const STATES: Record<string, string[]> = {
  'at rest': [],
  'under the pointer': ['hover'],
  pressed: ['hover', 'active', 'focus'],
  focused: ['focus', 'focus-visible'],
};

const MEDIA = [
  { colorScheme: 'light', forcedColors: 'none' },
  { colorScheme: 'dark', forcedColors: 'none' },
  { colorScheme: 'light', forcedColors: 'active' },
  { colorScheme: 'dark', forcedColors: 'active' },
] as const;

/**
 * The visible buttons whose text has less contrast than it needs, by state and theme:
 * `Save, pressed, dark, forced colours none: 3.1`.
 */
export async function unreadableButtons(page: Page): Promise<string[]> {
  const debuggerOfPage = await page.context().newCDPSession(page);
  const found: string[] = [];
  // A theme restyles and repaints the whole page, a state only its buttons: each theme comes once.
  const measureIn = async (states: Record<string, string[]>): Promise<void> => {
    for (const media of MEDIA) {
      await page.emulateMedia(media);
      for (const [state, pseudoClasses] of Object.entries(states)) {
        await force(debuggerOfPage, buttons, pseudoClasses);
        const where = `${state}, ${media.colorScheme}, forced colours ${media.forcedColors}`;
        found.push(...(await measure(page, where)));
      }
    }
  };
  const buttons = await listButtons(debuggerOfPage);
  try {
    await measureIn(STATES);
    await page.evaluate("document.querySelectorAll('button').forEach((one) => (one.ariaDisabled = 'true'))");
    await measureIn({ disabled: [] });
  } finally {
    await debuggerOfPage.detach();
  }
  return found;
}

async function listButtons(debuggerOfPage: CDPSession): Promise<number[]> {
  await debuggerOfPage.send('DOM.enable');
  await debuggerOfPage.send('CSS.enable');
  const { root } = await debuggerOfPage.send('DOM.getDocument');
  const { nodeIds } = await debuggerOfPage.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: 'button' });
  return nodeIds;
}

async function force(debuggerOfPage: CDPSession, nodeIds: number[], forcedPseudoClasses: string[]): Promise<void> {
  await Promise.all(
    nodeIds.map((nodeId) => debuggerOfPage.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses })),
  );
}

type Colour = [red: number, green: number, blue: number, alpha: number];

/** What the measurement reads of the DOM, whose types the tests do not have. */
interface Box {
  parentElement: Box | null;
  textContent: string;
  checkVisibility(): boolean;
}

interface Dom {
  getComputedStyle(box: Box): { color: string; backgroundColor: string; opacity: string };
  document: {
    querySelectorAll(selector: string): Iterable<Box>;
    getAnimations(): { finish(): void }[];
    createElement(name: 'canvas'): { getContext(kind: '2d', options: object): Canvas | null };
  };
}

interface Canvas {
  fillStyle: string;
  clearRect(...place: number[]): void;
  fillRect(...place: number[]): void;
  getImageData(...place: number[]): { data: Iterable<number> };
}

async function measure(page: Page, state: string): Promise<string[]> {
  const low = await page.evaluate((min) => {
    const { document, getComputedStyle } = globalThis as unknown as Dom;
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const known = new Map<string, Colour>();
    // Any colour of CSS, as the browser itself reads it.
    function read(text: string): Colour {
      const before = known.get(text);
      if (before !== undefined) return before;
      const colour = draw(text);
      known.set(text, colour);
      return colour;
    }
    function draw(text: string): Colour {
      if (canvas === null) return [0, 0, 0, 1];
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
      return [red, green, blue, alpha / 255];
    }
    const over = ([r, g, b, a]: Colour, [red, green, blue]: Colour): Colour => [
      r * a + red * (1 - a),
      g * a + green * (1 - a),
      b * a + blue * (1 - a),
      1,
    ];
    function ground(element: Box | null): Colour {
      if (element === null) return read('Canvas');
      const own = read(getComputedStyle(element).backgroundColor);
      return own[3] === 1 ? own : over(own, ground(element.parentElement));
    }
    function luminance([red, green, blue]: Colour): number {
      const [r = 0, g = 0, b = 0] = [red, green, blue]
        .map((channel) => channel / 255)
        .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    }
    const opacityOf = (element: Box | null): number =>
      element === null ? 1 : Number(getComputedStyle(element).opacity) * opacityOf(element.parentElement);

    document.getAnimations().forEach((animation) => animation.finish());
    return [...document.querySelectorAll('button')].flatMap((button) => {
      if (!button.checkVisibility() || button.textContent.trim() === '') return [];
      const behind = ground(button);
      const [red, green, blue, alpha] = read(getComputedStyle(button).color);
      const text = over([red, green, blue, alpha * opacityOf(button)], behind);
      const [dark = 0, light = 0] = [luminance(text), luminance(behind)].toSorted((a, b) => a - b);
      const contrast = (light + 0.05) / (dark + 0.05);
      return contrast < min ? [`${button.textContent.trim().slice(0, 40)}, STATE: ${contrast.toFixed(2)}`] : [];
    });
  }, CONTRAST_MIN);
  return low.map((text) => text.replace('STATE', state));
}

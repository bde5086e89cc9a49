import type { CDPSession, Page } from 'playwright-core';

/** WCAG 2.2 §1.4.3. */
const CONTRAST_MIN = 4.5;
const CONTRAST_OF_LARGE_MIN = 3;

const STATES: Record<string, string[]> = {
  'at rest': [],
  'under the pointer': ['hover'],
  pressed: ['hover', 'active', 'focus'],
  focused: ['focus', 'focus-visible'],
};

/** The themes of buttons. */
export const MEDIA = [
  { colorScheme: 'light', forcedColors: 'none' },
  { colorScheme: 'dark', forcedColors: 'none' },
  { colorScheme: 'light', forcedColors: 'active' },
  { colorScheme: 'dark', forcedColors: 'active' },
] as const;

const DISABLE = `for (const one of document.querySelectorAll('button')) {
  one.dataset.was = one.ariaDisabled ?? '';
  one.ariaDisabled = 'true';
}`;
const RESTORE = `for (const one of document.querySelectorAll('button')) {
  one.ariaDisabled = one.dataset.was || null;
  delete one.dataset.was;
}`;

/** Marks the first of alike buttons below a place: those with the same classes and states in parents with the same. */
const MARK_KINDS = `(place) => {
  const kinds = new Set();
  const own = (element) => element.getAttributeNames().filter((name) => /^(aria-|disabled)/.test(name)).sort()
    .map((name) => name === 'aria-label' ? '' : name + element.getAttribute(name)).join() + element.getAttribute('class');
  for (const button of document.querySelectorAll(place + ' button')) {
    const kind = [button.closest('[class~=selected]') !== null, own(button), own(button.parentElement)].join();
    button.toggleAttribute('data-kind', !kinds.has(kind) && button.checkVisibility());
    if (button.checkVisibility()) kinds.add(kind);
  }
}`;

/**
 * The visible buttons below `place` whose text has less contrast than it needs, one of alike ones, by state and theme:
 * `Save, pressed, dark, forced colours none: 3.1`.
 */
export async function unreadableButtons(
  page: Page,
  place = 'body',
  themes: readonly (typeof MEDIA)[number][] = MEDIA,
): Promise<string[]> {
  const debuggerOfPage = await page.context().newCDPSession(page);
  await page.evaluate(`(${MARK_KINDS})(${JSON.stringify(place)})`);
  const selector = `${place} button[data-kind]`;
  const found: string[] = [];
  // A theme restyles and repaints the whole page, a state only its buttons: each theme comes once.
  const measureIn = async (states: Record<string, string[]>): Promise<void> => {
    for (const media of themes) {
      await page.emulateMedia(media);
      for (const [state, pseudoClasses] of Object.entries(states)) {
        await force(debuggerOfPage, buttons, pseudoClasses);
        const where = `${state}, ${media.colorScheme}, forced colours ${media.forcedColors}`;
        found.push(...(await measure(page, where, selector)));
      }
    }
  };
  const buttons = await findNodes(debuggerOfPage, selector);
  try {
    await measureIn(STATES);
    await page.evaluate(DISABLE);
    await measureIn({ disabled: [] });
    await page.evaluate(RESTORE);
  } finally {
    await debuggerOfPage.detach();
  }
  await page.emulateMedia(MEDIA[0]);
  return found;
}

/** The visible texts, and values of fields, that have less contrast than they need in the present theme. */
export const unreadableTexts = (page: Page): Promise<string[]> =>
  measure(page, 'at rest', 'body, body :not([type=radio], [type=checkbox])');

async function findNodes(debuggerOfPage: CDPSession, selector: string): Promise<number[]> {
  await debuggerOfPage.send('DOM.enable');
  await debuggerOfPage.send('CSS.enable');
  const { root } = await debuggerOfPage.send('DOM.getDocument');
  const { nodeIds } = await debuggerOfPage.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector });
  return nodeIds;
}

async function force(debuggerOfPage: CDPSession, nodeIds: number[], forcedPseudoClasses: string[]): Promise<void> {
  await Promise.all(
    nodeIds.map((nodeId) => debuggerOfPage.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses })),
  );
}

type Colour = [red: number, green: number, blue: number, alpha: number];

/** The part of the DOM that the measurement reads; the tests have no DOM types. */
interface Box {
  parentElement: Box | null;
  textContent: string;
  childNodes: Iterable<{ nodeType: number; textContent: string }>;
  value?: unknown;
  ownerSVGElement?: unknown;
  checkVisibility(): boolean;
  getBoundingClientRect(): { width: number; height: number };
}

interface Style {
  color: string;
  fill: string;
  backgroundColor: string;
  backgroundImage: string;
  opacity: string;
  fontSize: string;
  fontWeight: string;
}

interface Dom {
  getComputedStyle(box: Box): Style;
  document: {
    querySelectorAll(selector: string): Iterable<Box>;
    getAnimations(): { finish(): void; effect: { getComputedTiming(): { endTime: number } } }[];
    createElement(name: 'canvas'): { getContext(kind: '2d', options: object): Canvas | null };
  };
}

interface Canvas {
  fillStyle: string;
  clearRect(...place: number[]): void;
  fillRect(...place: number[]): void;
  getImageData(...place: number[]): { data: Iterable<number> };
}

/**
 * The visible elements of `selector` whose own text has too little contrast with the backgrounds of their ancestors.
 */
async function measure(page: Page, state: string, selector: string): Promise<string[]> {
  const low = await page.evaluate(
    ({ min, minLarge, all }) => {
      const { document, getComputedStyle } = globalThis as unknown as Dom;
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      function remember<K, V>(find: (key: K) => V): (key: K) => V {
        const known = new Map<K, V>();
        return (key) => {
          const value = known.get(key) ?? find(key);
          known.set(key, value);
          return value;
        };
      }
      // Any colour of CSS, as the browser itself reads it.
      const read = remember((text: string): Colour => {
        if (canvas === null) return [0, 0, 0, 1];
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
        return [red, green, blue, alpha / 255];
      });
      const over = ([r, g, b, a]: Colour, [red, green, blue]: Colour): Colour => [
        r * a + red * (1 - a),
        g * a + green * (1 - a),
        b * a + blue * (1 - a),
        1,
      ];
      const styleOf = remember((element: Box) => getComputedStyle(element));
      /** Null before a picture, on which every pixel differs. */
      const groundOf = remember((element: Box): { colour: Colour | null } => {
        const { backgroundColor, backgroundImage } = styleOf(element);
        if (backgroundImage !== 'none') return { colour: null };
        const own = read(backgroundColor);
        if (own[3] === 1) return { colour: own };
        const behind = element.parentElement === null ? { colour: read('Canvas') } : groundOf(element.parentElement);
        return { colour: behind.colour && over(own, behind.colour) };
      });
      function luminance([red, green, blue]: Colour): number {
        const [r = 0, g = 0, b = 0] = [red, green, blue]
          .map((channel) => channel / 255)
          .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      }
      const opacityOf = remember((element: Box): number => {
        const own = Number(styleOf(element).opacity);
        return element.parentElement === null ? own : own * opacityOf(element.parentElement);
      });
      const TEXT_NODE = 3;
      function textOf(element: Box): string {
        if (typeof element.value === 'string' && element.value.trim() !== '') return element.value.trim();
        const isOwn = [...element.childNodes].some(
          ({ nodeType, textContent }) => nodeType === TEXT_NODE && textContent.trim() !== '',
        );
        return isOwn || all.endsWith(' button[data-kind]') ? element.textContent.trim() : '';
      }
      /** WCAG 2.2, "large scale": 18 points, or 14 in bold. */
      const isLarge = ({ fontSize, fontWeight }: Style): boolean =>
        Number.parseFloat(fontSize) >= (Number(fontWeight) >= 700 ? 18.66 : 24);

      for (const animation of document.getAnimations()) {
        if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish();
      }
      return [...document.querySelectorAll(all)].flatMap((element) => {
        const named = textOf(element);
        if (named === '' || !element.checkVisibility()) return [];
        // Text for screen readers only is clipped to a pixel.
        const { width, height } = element.getBoundingClientRect();
        const behind = groundOf(element).colour;
        if (width <= 1 || height <= 1 || behind === null) return [];
        const style = styleOf(element);
        const [red, green, blue, alpha] = read((element.ownerSVGElement ?? null) === null ? style.color : style.fill);
        const text = over([red, green, blue, alpha * opacityOf(element)], behind);
        const [dark = 0, light = 0] = [luminance(text), luminance(behind)].toSorted((a, b) => a - b);
        const contrast = (light + 0.05) / (dark + 0.05);
        return contrast < (isLarge(style) ? minLarge : min)
          ? [`${named.slice(0, 40)}, STATE: ${contrast.toFixed(2)}`]
          : [];
      });
    },
    { min: CONTRAST_MIN, minLarge: CONTRAST_OF_LARGE_MIN, all: selector },
  );
  return low.map((text) => text.replace('STATE', state));
}

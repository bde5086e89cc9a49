/** Shortcuts as text: `mod+k`, `?`, or a key sequence, `g p`. `mod` is Command on a Mac and Control elsewhere. */

/** The part of a key event that matters. `key` is the typed character, so `?` is `?` on every keyboard. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** A press as one word of a shortcut: `mod+k`, `g`; null for a key that begins no shortcut, such as Shift alone. */
export function readPress({ key, ctrlKey, metaKey, altKey }: KeyPress, isMac: boolean): string | null {
  if (['Shift', 'Control', 'Alt', 'Meta', 'Dead', 'Process', 'AltGraph'].includes(key)) return null;
  // AltGr types characters on many keyboards, and Alt alone opens system menus.
  if (altKey) return null;
  const mod = isMac ? metaKey : ctrlKey;
  if ((isMac ? ctrlKey : metaKey) && !mod) return null;
  const name = key.length === 1 ? key.toLowerCase() : key;
  return mod ? `mod+${name}` : name;
}

/** Whether the shortcut has no modifier and must not fire while the user types. */
export const isPlain = (shortcut: string): boolean => !shortcut.includes('mod+');

const MAC_NAMES: Record<string, string> = { mod: '⌘' };
const NAMES: Record<string, string> = { mod: 'Ctrl', Escape: 'Esc', Delete: 'Del', Enter: 'Enter' };

/** The keys to draw, one group per press: `mod+k` → `[['Ctrl', 'K']]`, `g p` → `[['G'], ['P']]`. */
export function keysOf(shortcut: string, isMac: boolean): string[][] {
  return shortcut
    .split(' ')
    .map((press) =>
      press
        .split('+')
        .map(
          (key) => (isMac ? MAC_NAMES[key] : undefined) ?? NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key),
        ),
    );
}

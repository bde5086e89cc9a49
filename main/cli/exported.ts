import { printable } from './text.ts';

/** What may stand beside the content of a file. */
const FACTS = ['format', 'fileName'];

/**
 * What is in the file that a result is, such as an exported certificate or zone: a `text` or a `base64` with nothing
 * beside it but facts about it. Null for any other result.
 */
export function fileContent(result: unknown): string | Uint8Array | null {
  if (typeof result !== 'object' || result === null) return null;
  const entries = Object.entries(result).filter(([name]) => !FACTS.includes(name));
  const [[name, content] = ['', null], surplus] = entries;
  if (surplus !== undefined || typeof content !== 'string') return null;
  if (name === 'text') return content;
  return name === 'base64' ? Buffer.from(content, 'base64') : null;
}

/** The text of a file on a terminal: its lines and tabs, and nothing that the terminal would obey. */
export const shownText = (text: string): string => text.replace(/[^\n\t]+/g, printable);

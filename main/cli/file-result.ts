/** Procedures whose result is itself a JSON document for other programs. */
const JSON_DOCUMENTS: ReadonlySet<string> = new Set(['traffic.har', 'domains.export']);

/** Fields that may accompany the content of a file. */
const FACTS: ReadonlySet<string> = new Set(['format', 'fileName', 'baseUrl']);

/**
 * The file in a result such as an exported certificate or zone: `text`, `document` or `base64` with nothing but metadata
 * beside it, or a whole JSON document. Null for any other result.
 */
export function fileContent(procedure: string, result: unknown): string | Uint8Array | null {
  if (JSON_DOCUMENTS.has(procedure)) return `${JSON.stringify(result, null, 2)}\n`;
  if (typeof result !== 'object' || result === null) return null;
  const entries = Object.entries(result).filter(([name]) => !FACTS.has(name));
  const [[name, content] = ['', null], surplus] = entries;
  if (surplus !== undefined || typeof content !== 'string') return null;
  if (name === 'text' || name === 'document') return content;
  return name === 'base64' ? Buffer.from(content, 'base64') : null;
}

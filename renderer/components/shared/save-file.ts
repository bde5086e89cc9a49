/** Lets the reader save something that the page made, under the name that it proposes. */
export function saveFile(
  fileName: string,
  content: string | Uint8Array<ArrayBuffer> | readonly string[],
  type: string,
): void {
  const parts = typeof content === 'string' || content instanceof Uint8Array ? [content] : [...content];
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The click has taken what it needs by the next turn.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

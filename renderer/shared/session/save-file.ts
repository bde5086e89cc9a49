/** Offers generated data for download under a suggested name. */
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
  // The click has read the URL by the next turn.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

/** What the build writes down of the libraries that it took in: of the interface, and of the engine where that is built. */
const FILES = ['/licences.txt', '/licences-engine.txt'] as const;

/** The licence texts of everything that is shipped, without the files' own headings. Rejects when there is none to read. */
export async function readLicences(
  read: (path: string) => Promise<{ ok: boolean; text(): Promise<string> }>,
): Promise<string> {
  const texts = await Promise.all(
    FILES.map(async (path) => {
      const response = await read(path);
      return response.ok ? (await response.text()).replace(/^# Licenses\s+[^\n]*\n/, '').trim() : '';
    }),
  );
  const found = texts.filter((text) => text !== '');
  if (found.length === 0) throw new Error('No licence file is served.');
  return found.join('\n\n');
}

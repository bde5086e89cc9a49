/**
 * The licence file that the build writes for the bundled libraries: the interface's, and the engine's if it is built.
 */
const FILES = ['/licences.txt', '/licences-engine.txt'] as const;

/** The licence texts of all shipped libraries, without the files' own headings. Rejects when there is no file. */
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

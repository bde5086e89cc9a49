import { describe, expect, it } from 'vitest';
import { readLicences } from '../../../../../../renderer/pages/machine/settings/licences.ts';

describe('the licences', () => {
  const served = (files: Record<string, string>) => (path: string) =>
    Promise.resolve({ ok: path in files, text: () => Promise.resolve(files[path] ?? '') });

  it('are those of the interface and, if it is built, of the engine', async () => {
    const head = '# Licenses\n\nThe app bundles dependencies which contain the following licenses:\n\n';
    const interfaceOnly = { '/licences.txt': `${head}## a - 1 (MIT)\n` };
    expect(await readLicences(served(interfaceOnly))).toBe('## a - 1 (MIT)');
    expect(await readLicences(served({ ...interfaceOnly, '/licences-engine.txt': '## b - 2 (ISC)' }))).toBe(
      '## a - 1 (MIT)\n\n## b - 2 (ISC)',
    );
  });

  it('cause an error if they are missing', async () => {
    await expect(readLicences(served({}))).rejects.toThrow('No licence file');
  });
});

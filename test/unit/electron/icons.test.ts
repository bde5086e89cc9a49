import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeIcns, encodeIco, pictureSizes } from '../../support/documents/icon-files.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'resources', 'icons');
const icon = (name: string): Buffer => readFileSync(join(FOLDER, name));

describe('the icons', () => {
  it('are generated from the current mark', () => {
    const source = createHash('sha256').update(icon('vivarium.svg')).digest('hex');
    expect(icon('made-from.txt').toString(), 'run npm run icons').toBe(`${source}  vivarium.svg\n`);
  });

  it.each([
    ['vivarium.ico', [16, 24, 32, 48, 64, 128, 256]],
    ['vivarium.icns', [32, 64, 128, 256, 256, 512, 512, 1024]],
    ['tray.png', [32]],
    ['tray@2x.png', [64]],
    ['trayTemplate.png', [16]],
    ['trayTemplate@2x.png', [32]],
    ...[16, 24, 32, 48, 64, 128, 256, 512].map((size): [string, number[]] => [`linux/${size}x${size}.png`, [size]]),
  ])('%s has the sizes %j', (name, sizes) => {
    expect(pictureSizes(icon(name))).toEqual(sizes);
  });

  it('are in the format that their systems read', () => {
    const picture = { size: 256, png: icon('linux/256x256.png') };
    const ico = encodeIco([picture]);
    // ICONDIR: type 1, one picture; ICONDIRENTRY: 256 is 0, 32 bits, and the offset of its bytes.
    expect([...ico.subarray(0, 8)]).toEqual([0, 0, 1, 0, 1, 0, 0, 0]);
    expect(ico.subarray(ico.readUInt32LE(18))).toEqual(picture.png);
    const icns = encodeIcns([picture]);
    expect([icns.toString('latin1', 0, 4), icns.readUInt32BE(4)]).toEqual(['icns', icns.length]);
    expect(icns.toString('latin1', 8, 12)).toBe('ic13');
  });
});

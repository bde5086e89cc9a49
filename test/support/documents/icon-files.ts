/** One square picture: its side in pixels, and its PNG. */
export interface Picture {
  size: number;
  png: Buffer;
}

const ICO_HEADER_BYTES = 6;
const ICO_ENTRY_BYTES = 16;

/** A Windows icon whose pictures are PNGs, as Windows reads since Vista. A side of 256 is written as 0. */
export function encodeIco(pictures: readonly Picture[]): Buffer {
  const header = Buffer.alloc(ICO_HEADER_BYTES);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(pictures.length, 4);
  let offset = ICO_HEADER_BYTES + ICO_ENTRY_BYTES * pictures.length;
  const entries = pictures.map(({ size, png }) => {
    const entry = Buffer.alloc(ICO_ENTRY_BYTES);
    entry.writeUInt8(size % 256, 0);
    entry.writeUInt8(size % 256, 1);
    entry.writeUInt16LE(1, 4);
    entry.writeUInt16LE(32, 6);
    entry.writeUInt32LE(png.length, 8);
    entry.writeUInt32LE(offset, 12);
    offset += png.length;
    return entry;
  });
  return Buffer.concat([header, ...entries, ...pictures.map(({ png }) => png)]);
}

/** The types of PNGs in an Apple icon, by side; a side with two types also serves half the points at @2x. */
const ICNS_TYPES: Record<number, readonly string[]> = {
  32: ['ic11'],
  64: ['ic12'],
  128: ['ic07'],
  256: ['ic13', 'ic08'],
  512: ['ic14', 'ic09'],
  1024: ['ic10'],
};
export const ICNS_SIZES = Object.keys(ICNS_TYPES).map(Number);

export function encodeIcns(pictures: readonly Picture[]): Buffer {
  const chunks = pictures.flatMap(({ size, png }) =>
    (ICNS_TYPES[size] ?? []).map((type) => Buffer.concat([chunkHeader(type, png.length), png])),
  );
  const body = Buffer.concat(chunks);
  return Buffer.concat([chunkHeader('icns', body.length), body]);
}

function chunkHeader(type: string, contentBytes: number): Buffer {
  const header = Buffer.alloc(8);
  header.write(type, 'latin1');
  header.writeUInt32BE(contentBytes + header.length, 4);
  return header;
}

/** The sides of the pictures in an icon file, or of one PNG (its IHDR chunk). */
export function pictureSizes(file: Buffer): number[] {
  if (file.readUInt32BE(0) === 0x89504e47) return [file.readUInt32BE(16)];
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
  const sizes: number[] = [];
  for (let at = file.indexOf(signature); at >= 0; at = file.indexOf(signature, at + 1)) {
    sizes.push(file.readUInt32BE(at + 16));
  }
  return sizes;
}

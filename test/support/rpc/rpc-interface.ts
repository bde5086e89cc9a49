import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../temporary-folder.ts';

export const INTERFACE_PAGE = '<!doctype html><title>Vivarium</title>';

/** A folder with a small interface, a hidden file, and a link to a file outside. */
export function buildInterface(): string {
  const outside = temporaryFolder();
  const folder = join(outside, 'renderer');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(outside, 'secret.json'), '"secret"');
  writeFileSync(join(folder, 'index.html'), INTERFACE_PAGE);
  writeFileSync(join(folder, 'assets', 'index-B4x_9kQz.js'), 'export {};');
  writeFileSync(join(folder, 'icon.svg'), '<svg/>');
  writeFileSync(join(folder, '.env.json'), '"secret"');
  symlinkSync(join(outside, 'secret.json'), join(folder, 'link.json'));
  return folder;
}

/**
 * Replaces `package.json` for the tarball (`prepack`), and puts it back (`postpack`); npm packs it in between. A clone
 * starts with Node 20, because its launcher installs a newer one, and is private; the tarball needs the Node that runs it.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_RANGE } from '../node-version.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const file = join(root, 'package.json');
/** The clone's own file: with its time, which is part of what the last build was made from. */
const kept = join(root, 'out', 'package.json');

if (process.argv[2] === 'back') {
  if (existsSync(kept)) renameSync(kept, file);
} else if (!existsSync(kept)) {
  const text = readFileSync(file, 'utf8')
    .replace('"private": true', '"private": false')
    .replace('"node": ">=20"', `"node": "${NODE_RANGE}"`);
  mkdirSync(join(root, 'out'), { recursive: true });
  renameSync(file, kept);
  writeFileSync(file, text);
}

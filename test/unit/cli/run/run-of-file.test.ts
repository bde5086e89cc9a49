import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Io } from '../../../../main/cli/text/io.ts';
import { runOfFile } from '../../../../main/cli/run/asked-run.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const TWO = `vivarium: 1
projects:
  acme: { run: npm run dev, domains: { old.test: { redirect: acme.test }, "*.acme.test": , acme.test: , b.acme.test: } }
  shop: { run: "cd shop && next dev", domains: { shop.test: }, primary: shop.test }
  api: {}
`;
const AS = 'vivarium: 1\nprojects: { acme: { run: vite, as: [vercel, "cloudflare=acme,api"] } }\n';
const ONE = 'vivarium: 1\nprojects: { acme: { run: vite --host }, api: { target: api } }\n';

const find = (text: string, word: string | undefined) => {
  const workingDir = join(temporaryFolder(), 'folder');
  mkdirSync(workingDir);
  writeFileSync(join(workingDir, 'vivarium.yaml'), text);
  return runOfFile(word, [], { workingDir, platform: 'linux' } as Io);
};

it.each<[string, string | undefined, string[], object, string[]?]>([
  [AS, undefined, ['vite'], { name: 'acme' }, ['vercel', 'cloudflare=acme,api']],
  [AS.replace(/\[.*\]/, 'vercel'), undefined, ['vite'], { name: 'acme' }, ['vercel']],
  [ONE, undefined, ['vite', '--host'], { name: 'acme' }],
  [TWO, 'acme', ['npm', 'run', 'dev'], { name: 'acme', hostname: 'acme.test' }],
  [TWO, 'b.acme.test', ['npm', 'run', 'dev'], { name: 'acme', hostname: 'b.acme.test' }],
  [TWO, 'shop', ['/bin/sh', '-c', 'cd shop && next dev'], { name: 'shop', hostname: 'shop.test' }],
])('the command of a vivarium.yaml: %#', async (text, word, command, place, as = []) => {
  expect(await find(text, word)).toEqual({ command, as, place });
});

it.each<[string, string | undefined, string | RegExp]>([
  [TWO, undefined, 'Name a project; vivarium.yaml has commands for acme, shop.'],
  [TWO, 'api', 'Name a project; vivarium.yaml has commands for acme, shop.'],
  [
    'vivarium: 1',
    undefined,
    'vivarium.yaml has no command. Write one there as projects.NAME.run, or after two dashes.',
  ],
  [
    'vivarium: 1\nprojects: { a: { run: x, target: api } }',
    'a',
    /projects\.a\.run \(line 2, column 23\) cannot be combined with target/,
  ],
])('the command of a vivarium.yaml is not chosen, with a reason: %#', async (text, word, message) => {
  await expect(find(text, word)).rejects.toThrow(message);
});

it('there is no command without a file', async () => {
  expect(await runOfFile(undefined, [], { workingDir: temporaryFolder() } as Io)).toBeNull();
});

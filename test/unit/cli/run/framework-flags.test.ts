import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withPortFlags } from '../../../../main/cli/run/app-port.ts';

const SCRIPTS = {
  start: 'ng serve',
  dev: 'vite',
  both: 'ng serve && echo',
  web: 'expo start --web',
  own: 'ng serve -p 1',
};

test.each([
  ['vite', 'vite'],
  ['next dev', 'next dev'],
  ['ng serve', 'ng serve --port 4000'],
  ['ng serve --port=4300', 'ng serve --port=4300'],
  ['npx ng serve --open', 'npx ng serve --open --port 4000'],
  ['node_modules/.bin/ng serve', 'node_modules/.bin/ng serve --port 4000'],
  ['python3.13 manage.py runserver', 'python3.13 manage.py runserver 4000'],
  ['python manage.py runserver --noreload', 'python manage.py runserver --noreload 4000'],
  ['./manage.py runserver 9000', './manage.py runserver 9000'],
  ['uv run flask run', 'uv run flask run --port 4000'],
  ['npm start', 'npm start -- --port 4000'],
  ['npm start -- --open', 'npm start -- --open --port 4000'],
  ['npm run dev', 'npm run dev'],
  ['npm run both', 'npm run both'],
  ['npm run own', 'npm run own'],
  ['npm run absent', 'npm run absent'],
  ['pnpm web', 'pnpm web --port 4000'],
  ['yarn run web', 'yarn run web --port 4000'],
])('%s is run as %s', async (command, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'vivarium-flags-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: SCRIPTS }));
  expect((await withPortFlags(command.split(' '), 4000, folder)).join(' ')).toBe(expected);
});

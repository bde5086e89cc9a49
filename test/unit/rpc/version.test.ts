import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { VERSION } from '../../../main/base/version.ts';

it('the version that Vivarium says is the one of its package', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  expect(VERSION).toBe((JSON.parse(text) as { version: string }).version);
});

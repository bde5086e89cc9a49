import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Flag, refuseEaten, tracelessHint } from '../../../../main/cli/words/flags.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const FLAGS: Flag[] = [
  { name: 'json', kind: 'switch' },
  { name: 'force', kind: 'switch' },
  { name: 'plan', kind: 'value' },
  { name: 'limit', kind: 'value' },
  { name: 'per-minute', kind: 'value' },
  { name: 'detach', kind: 'switch', short: 'd' },
];

/** What npm 11 passes to a script for the options of a line without `--`. */
const PLAN = { npm_config_parseable: 'true', npm_config_long: 'true', npm_config_all: 'true' };

const refuse = (words: readonly string[], env: Record<string, string>) => () =>
  refuseEaten(['projects', 'create'], words, FLAGS, {
    env: { npm_command: 'run', npm_lifecycle_event: 'vivarium', ...env },
    platform: 'linux',
  });

it.each([
  ['projects create --json', [], { npm_config_json: 'true' }],
  ['projects create Foo --plan pro', ['Foo', 'pro'], PLAN],
  ['projects create Foo --json --plan pro', ['Foo', 'pro'], { ...PLAN, npm_config_json: 'true' }],
  ["projects create 'Foo Bar' --limit 5", ['Foo Bar', '5'], { npm_config_limit: 'true' }],
  ['projects create --limit 5', [], { npm_config_limit: '5' }],
  [
    'projects create 5 6 --limit … --per-minute …',
    ['5', '6'],
    { npm_config_limit: 'true', npm_config_per_minute: 'true' },
  ],
  ['projects create --no-force', [], { npm_config_force: '' }],
  ['projects create --detach', [], { npm_config_loglevel: 'info' }],
])('npm run vivarium %s, without --, is answered with the line that works', (line, words, env) => {
  expect(refuse(words, env)).toThrow(`Put -- before the options: npm run -s vivarium -- ${line}`);
});

it.each([
  ['the command has none of npm’s options', ['Foo'], { npm_config_color: 'false', npm_config_loglevel: 'silent' }],
  ['the command received it as well', ['--json=false'], { npm_config_json: 'true' }],
  ['another script called it', [], { npm_config_json: 'true', npm_lifecycle_event: 'dev' }],
  ['it was not called through a script', [], { npm_config_json: 'true', VIVARIUM_COMMAND: 'vivarium' }],
])('nothing is refused if %s', (_why, words, env) => {
  expect(refuse(words, env)).not.toThrow();
});

it('an option that an npm configuration file sets is not refused', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'npmrc');
  writeFileSync(file, 'fund=false\njson = true\nloglevel=info\n');
  const env = { npm_config_json: 'true', npm_config_loglevel: 'info', npm_config_userconfig: file };
  expect(refuse([], env)).not.toThrow();
});

it('the error tells how to pass --local, which npm takes without a trace', () => {
  const hint = (words: readonly string[], env: Record<string, string>, flags = FLAGS) =>
    tracelessHint(['domains', 'attach'], words, flags, { env, platform: 'linux' });
  const script = { npm_command: 'run', npm_lifecycle_event: 'vivarium' };
  const local: Flag[] = [...FLAGS, { name: 'local', kind: 'switch' }];
  expect(hint(['a.test'], script, local)).toBe(
    'Without --local: npm keeps that option if no -- is before it. ' +
      'To add it: npm run -s vivarium -- domains attach a.test --local',
  );
  expect(hint(['a.test', '--local'], script, local)).toBeNull();
  expect(hint(['a.test'], {}, local)).toBeNull();
  expect(hint(['a.test'], script)).toBeNull();
});

import { expect, it } from 'vitest';
import { firstWord } from '../../../../main/cli/words/fields.ts';

it.each<[string[], number]>([
  [['list'], 0],
  [['--json', 'list'], 1],
  [['--project', 'demo', 'list'], 2],
  [['--project=demo', 'list'], 1],
  [['--unknown', 'list'], -1],
  [['--project', 'demo'], -1],
  [[], -1],
])('the first word of a namespace in %j is at %i', (args, at) => {
  expect(firstWord('domain', args)).toBe(at);
});

import { describe, expect, it } from 'vitest';
import { readArguments, type Flag } from '../../../../main/cli/words/flags.ts';

const FLAGS: Flag[] = [
  { name: 'help', kind: 'switch', short: 'h' },
  { name: 'json', kind: 'switch' },
  { name: 'limit', kind: 'value' },
  { name: 'per-minute', kind: 'value' },
  { name: 'note', kind: 'value', mayBeEmpty: true },
];

describe('the arguments of a command line', () => {
  it.each<[string[], Record<string, string[]>, string[]]>([
    [[], {}, []],
    [['a', 'b'], {}, ['a', 'b']],
    [['--limit', '5'], { limit: ['5'] }, []],
    [['--limit=5'], { limit: ['5'] }, []],
    [['--note='], { note: [''] }, []],
    [['--limit=a=b'], { limit: ['a=b'] }, []],
    [['--limit=--x'], { limit: ['--x'] }, []],
    [['--limit', '-5'], { limit: ['-5'] }, []],
    [['--note', ''], { note: [''] }, []],
    [['--limit', '1', '--limit', '2'], { limit: ['1', '2'] }, []],
    [['-5'], {}, ['-5']],
    [['-'], {}, ['-']],
    [['--json', 'a'], { json: ['true'] }, ['a']],
    [['--no-json'], { json: ['false'] }, []],
    [['--json=false'], { json: ['false'] }, []],
    [['-h'], { help: ['true'] }, []],
    [['--', '--json', '-x'], {}, ['--json', '-x']],
  ])('%j are read', (args, flags, positionals) => {
    const read = readArguments(args, FLAGS);
    expect([Object.fromEntries(read.flags), read.positionals]).toEqual([flags, positionals]);
  });

  it.each([
    [['--lmit', '5'], 'There is no option --lmit. Did you mean "--limit"?'],
    [['--perMinute', '5'], 'There is no option --perMinute. Did you mean "--per-minute"?'],
    [['--minute', '5'], 'There is no option --minute. Did you mean "--per-minute"?'],
    [['--zzz'], 'There is no option --zzz.'],
    [['--no-limit'], 'There is no option --no-limit.'],
    [['-x'], 'There is no option -x.'],
    [['--limit'], '--limit needs a value.'],
    [['--limit', ''], '--limit needs a value.'],
    [['--limit='], '--limit needs a value.'],
    [['--limit', '--json'], '--limit needs a value; if it is meant to be --json, write --limit=--json.'],
    [['--limit', '-- weird'], "--limit needs a value; if it is meant to be -- weird, write --limit='-- weird'."],
    [['--json=yes'], '--json takes no value but true and false, not "yes".'],
    [['--no-json=true'], 'There is no option --no-json. Did you mean "--json"?'],
    [['--constructor'], 'There is no option --constructor.'],
  ])('%j are refused with one sentence', (args, message) => {
    expect(() => readArguments(args, FLAGS)).toThrow(message);
  });

  it('have numbers from the least to the most', () => {
    const read = (limit: number) => readArguments([`--limit=${limit}`], FLAGS).number({ name: 'limit' }, 1, [2, 9]);
    expect([2, 9].map(read)).toEqual([2, 9]);
    for (const limit of [1, 10]) expect(() => read(limit)).toThrow('a whole number from 2 to 9');
  });
});

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog, formatLogLine, type LogLine, openLogFile } from '../../../main/base/log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function logsFolder(): string {
  const folder = temporaryFolder();
  return join(folder, 'logs');
}

const line = (message: string): LogLine => ({ at: '2026-11-21T09:00:00.000Z', level: 'info', message, fields: {} });
const LINE_BYTES = '2026-11-21T09:00:00.000Z info  1\n'.length;

describe('the log file', () => {
  it('contains every line as soon as it is written, readable only for its owner', () => {
    const folder = logsFolder();
    const log = openLogFile(folder, expect.unreachable);
    log.write(line('first'));
    expect(readFileSync(join(folder, 'vivarium.log'), 'utf8')).toBe('2026-11-21T09:00:00.000Z info  first\n');
    expect(statSync(join(folder, 'vivarium.log')).mode & 0o777).toBe(0o600);
    log.close();
  });

  it('continues the file of the previous start', () => {
    const folder = logsFolder();
    for (const message of ['one', 'two']) {
      const log = openLogFile(folder, expect.unreachable);
      log.write(line(message));
      log.close();
    }
    expect(readFileSync(join(folder, 'vivarium.log'), 'utf8').match(/info {2}\w+/g)).toEqual([
      'info  one',
      'info  two',
    ]);
  });

  it('consists of at most four files of its maximum size, and drops the oldest lines first', () => {
    const folder = logsFolder();
    const log = openLogFile(folder, expect.unreachable, 2 * LINE_BYTES);
    for (let number = 0; number < 30; number++) log.write(line(String(number % 10)));
    log.close();
    expect(readdirSync(folder).sort()).toEqual(['vivarium.1.log', 'vivarium.2.log', 'vivarium.3.log', 'vivarium.log']);
    const kept = ['vivarium.3.log', 'vivarium.2.log', 'vivarium.1.log', 'vivarium.log'].map((name) =>
      readFileSync(join(folder, name), 'utf8')
        .match(/\d(?=\n)/g)
        ?.join(''),
    );
    expect(kept).toEqual(['23', '45', '67', '89']);
  });

  it('accepts a line that is larger than a file', () => {
    const folder = logsFolder();
    const log = openLogFile(folder, expect.unreachable, 10);
    log.write(line('long'));
    log.close();
    expect(readFileSync(join(folder, 'vivarium.log'), 'utf8')).toContain('long');
  });

  it('passes on what it cannot write', () => {
    const folder = logsFolder();
    writeFileSync(folder, 'a file where the folder should be');
    const told: string[] = [];
    openLogFile(folder, (text) => told.push(text)).write(line('lost'));
    expect(told).toEqual(['2026-11-21T09:00:00.000Z info  lost\n']);
  });
});

describe('a log line', () => {
  it('names a moment that no date can represent', () => {
    const lines: LogLine[] = [];
    for (const nowMs of [8.64e15, 9e15, 2 ** 63, -9e15, NaN, Infinity]) {
      createLog({ now: () => nowMs }, (each) => lines.push(each)).warn('moved');
    }
    expect(lines.map(({ at }) => at)).toEqual([
      '+275760-09-13T00:00:00.000Z',
      '9000000000000000 ms',
      '9223372036854776000 ms',
      '-9000000000000000 ms',
      'NaN ms',
      'Infinity ms',
    ]);
  });

  it('is written with any value in its fields', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const stackless = new Error('no stack');
    Object.defineProperty(stackless, 'stack', { get: () => expect.fail('the stack is read') });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const throwing = { toJSON: () => expect.fail('toJSON is called') };
    const fields = {
      cyclic,
      stackless,
      proxy,
      throwing,
      date: new Date(NaN),
      deep: { id: 5n },
      id: 5n,
      symbol: Symbol('s'),
    };
    expect(formatLogLine({ ...line('any'), fields })).toBe(
      '2026-11-21T09:00:00.000Z info  any cyclic=(unreadable) stackless=(unreadable) proxy=(unreadable)' +
        ' throwing=(unreadable) date=null deep={"id":"5"} id=5 symbol=undefined',
    );
  });
});

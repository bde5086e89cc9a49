import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog, formatLogLine, type LogLine, openLogFile } from '../../../main/base/log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const logsFolder = () => join(temporaryFolder(), 'logs');
const AT = '2026-11-21T09:00:00.000Z';
const line = (message: string): LogLine => ({ at: AT, level: 'info', message, fields: {} });
const LINE_BYTES = `${AT} info  1\n`.length;
const textIn = (folder: string, name = 'vivarium.log') => readFileSync(join(folder, name), 'utf8');

describe('the log file', () => {
  it('contains every line as soon as it is written, readable only for its owner', () => {
    const folder = logsFolder();
    const log = openLogFile(folder, expect.unreachable);
    log.write(line('first'));
    expect(textIn(folder)).toBe(`${AT} info  first\n`);
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
    expect(textIn(folder).match(/info {2}\w+/g)).toEqual(['info  one', 'info  two']);
  });

  it('consists of at most four files of its maximum size, and drops the oldest lines first', () => {
    const folder = logsFolder();
    const log = openLogFile(folder, expect.unreachable, 2 * LINE_BYTES);
    for (let number = 0; number < 30; number++) log.write(line(String(number % 10)));
    log.close();
    const files = ['vivarium.3.log', 'vivarium.2.log', 'vivarium.1.log', 'vivarium.log'];
    expect(readdirSync(folder).sort()).toEqual(files.toSorted());
    const kept = files.map((name) =>
      textIn(folder, name)
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
    expect(textIn(folder)).toContain('long');
  });

  it('passes on what it cannot write', () => {
    const folder = logsFolder();
    writeFileSync(folder, 'a file where the folder should be');
    const told: string[] = [];
    openLogFile(folder, (text) => told.push(text)).write(line('lost'));
    expect(told).toEqual([`${AT} info  lost\n`]);
  });
});

describe('a log line', () => {
  it('names a moment that no date can represent', () => {
    const lines: LogLine[] = [];
    for (const nowMs of [8.64e15, 9e15, 2 ** 63, -9e15, NaN, Infinity]) {
      createLog({ now: () => nowMs }, (each) => lines.push(each)).warn('moved');
    }
    const others = ['9000000000000000', '9223372036854776000', '-9000000000000000', 'NaN', 'Infinity'];
    expect(lines.map(({ at }) => at)).toEqual(['+275760-09-13T00:00:00.000Z', ...others.map((ms) => `${ms} ms`)]);
  });

  it('is written with any value in its fields', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const stackless = new Error('no stack');
    Object.defineProperty(stackless, 'stack', { get: () => expect.fail('the stack is read') });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const throwing = { toJSON: () => expect.fail('toJSON is called') };
    const unreadable = { cyclic, stackless, proxy, throwing };
    const fields = { ...unreadable, date: new Date(NaN), deep: { id: 5n }, id: 5n, symbol: Symbol('s') };
    const shown = Object.keys(unreadable).map((name) => `${name}=(unreadable)`);
    expect(formatLogLine({ ...line('any'), fields })).toBe(
      `${AT} info  any ${shown.join(' ')} date=null deep={"id":"5"} id=5 symbol=undefined`,
    );
  });
});

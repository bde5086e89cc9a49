import { describe, expect, it } from 'vitest';
import { conditionOf, noticesBetween, readCondition } from '../../../main/electron/notices.ts';
import { createFakeServices, SAMPLE_PROJECT } from '../../support/rpc/rpc-fake-services.ts';

const UNTIL = '2026-01-01T00:10:00.000Z';

/** Domains by `+` (served), `h` (over HTTP only) or `-`; banned keys by their end. */
function condition(domains: Record<string, '+' | 'h' | '-'>, bans: Record<string, string> = {}) {
  const callers = Object.entries(bans).map(([keyId, bannedUntil]) => ({ keyId, bannedUntil }));
  return conditionOf(
    Object.entries(domains).map(([hostname, state]) => ({
      hostname,
      serving: { http: state !== '-', https: state === '+' },
    })),
    [{ name: 'Demo', callers: [...callers, { keyId: 'fine' }, {}] }],
  );
}

const titles = (...between: Parameters<typeof noticesBetween>): string[] =>
  noticesBetween(...between).map(({ title }) => title);

/** A call that is refused once the engine has stopped, after a while. */
const refusedLater = () => new Promise<never>((_, reject) => setImmediate(() => reject(new Error('closed'))));

describe('notifications', () => {
  it('read nothing more once the engine stops, and leave no failure unhandled', async () => {
    const { services, calls, stub } = createFakeServices();
    stub('projects', 'list', () => [SAMPLE_PROJECT]);
    stub('domains', 'list', refusedLater);
    stub('limits', 'usage', refusedLater);
    await expect(readCondition(services, { signal: new AbortController().signal })).rejects.toThrow('closed');
    expect(calls.map(({ procedure }) => procedure)).toEqual(['projects.list', 'domains.list']);
  });

  it.each<[what: string, before: ReturnType<typeof condition>, after: ReturnType<typeof condition>, titles: string[]]>([
    ['nothing new', condition({ a: '+' }), condition({ a: '+' }), []],
    ['a domain is suspended', condition({ a: '+' }), condition({ a: '-' }), ['a is no longer served']],
    ['its certificate ends', condition({ a: '+' }), condition({ a: 'h' }), ['a is no longer served over HTTPS']],
    ['it is removed', condition({ a: '+' }), condition({}), []],
    ['it is new, and not served', condition({}), condition({ a: '-' }), []],
    ['it is served again', condition({ a: '-' }), condition({ a: '+' }), []],
    ['a key is banned', condition({}), condition({}, { k: UNTIL }), ['An API key of Demo is banned']],
    ['it still is', condition({}, { k: UNTIL }), condition({}, { k: UNTIL }), []],
    [
      'it was banned again',
      condition({}, { k: 'earlier' }),
      condition({}, { k: UNTIL }),
      ['An API key of Demo is banned'],
    ],
    [
      'many at once',
      condition({ a: '+', b: '+', c: '+', d: '+' }),
      condition({ a: '-', b: '-', c: '-', d: '-' }),
      ['4 domains are no longer served'],
    ],
  ])('%s', (_what, before, after, expected) => {
    expect(titles(before, after)).toEqual(expected);
  });
});

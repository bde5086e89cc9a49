import { mutantsOf } from '../mutant.ts';

export const LIMITS = [
  ...mutantsOf('main/model/rate-decision.ts', ['test/unit/model/rate-decision.test.ts'], {
    'limits.strikes-outlive-their-window': {
      find: 'strikesUntilMs !== null && (strikesUntilMs <= nowMs || strikesUntilMs > nowMs + DAY_MS)',
      replace: 'strikesUntilMs !== null && strikesUntilMs > nowMs + DAY_MS',
      breaks: 'usage shows strikes of a window that has ended',
    },
    'limits.strikes-of-the-future': {
      find: 'strikesUntilMs > nowMs + DAY_MS',
      replace: 'strikesUntilMs > nowMs + 2 * DAY_MS',
      breaks: 'after the clock went back, usage shows strikes that are still to come',
    },
    'limits.tie-goes-to-the-day': {
      find: 'day.remaining < minute.remaining ? day : minute',
      replace: 'day.remaining <= minute.remaining ? day : minute',
      breaks: 'the rate headers describe the day where both windows have as many left',
    },
    'limits.minute-ends-late': {
      find: 'nowMs < window.startedAtMs + lengthMs ?',
      replace: 'nowMs <= window.startedAtMs + lengthMs ?',
      breaks: 'a client that waits for the end of its window is refused once more',
    },
    'limits.retry-after-rounds-down': {
      find: 'Math.ceil(atMs / 1000 - nowMs / 1000)',
      replace: 'Math.floor(atMs / 1000 - nowMs / 1000)',
      breaks: 'a client that waits for Retry-After comes back too early',
    },
    'limits.ban-ends-late': {
      find: 'bannedUntilMs <= nowMs)',
      replace: 'bannedUntilMs < nowMs)',
      breaks: 'a key is banned at the moment at which its ban ends',
    },
    'limits.both-windows-end-together': {
      find: 'day.endsAtMs <= minute.endsAtMs ? minute : day',
      replace: 'day.endsAtMs < minute.endsAtMs ? minute : day',
      breaks: 'a refusal names the day where the minute ends at the same moment',
    },
    'limits.peek-shows-the-window-that-ends-first': {
      find: 'waitFor(minute, day) ?? narrower(minute, day)',
      replace: 'narrower(minute, day)',
      breaks: 'a preflight shows the minute where the day is used up as well',
    },
    'limits.strikes-of-another-window': {
      find: '(state.strikesUntilMs === exhausted.endsAtMs ? state.strikes : 0) + 1',
      replace: 'state.strikes + 1',
      breaks: 'refusals in two windows add up to a ban',
    },
  }),
  ...mutantsOf('main/ratelimit/limiter.ts', ['test/unit/ratelimit/limiter.test.ts'], {
    'limits.reset-lifts-bans': {
      find: '{ ...NEW_CALLER, bannedUntilMs }',
      replace: 'NEW_CALLER',
      breaks: 'limits.reset lifts a ban',
    },
    'limits.unban-keeps-strikes': {
      find: '{ ...state, strikes: 0, strikesUntilMs: null, bannedUntilMs: null }',
      replace: '{ ...state, bannedUntilMs: null }',
      breaks: 'one more refusal after limits.unban bans the key again',
    },
    'limits.banned-callers-are-forgotten-first': {
      find: 'if (banned && ++scanned < EVICTION_SCAN_MAX) continue;',
      replace: '',
      breaks: 'a ban ends early on a busy machine',
    },
    'limits.written-once-only': {
      find: 'for (const entry of dirty) entry.dirty = false;',
      replace: '',
      breaks: 'counts after the first write are lost by a restart',
    },
    'limits.addresses-are-banned': {
      find: "caller.startsWith('key:') ? banRule() : null",
      replace: 'banRule()',
      breaks: 'an address is banned like a key',
    },
    'limits.unban-is-written-later': {
      find: 'bannedUntilMs: null });\n      flush();',
      replace: 'bannedUntilMs: null });',
      breaks: 'a ban that was lifted is back after a crash',
    },
    'limits.reset-is-written-later': {
      find: '        mark(entry, { ...NEW_CALLER, bannedUntilMs });\n      }\n      flush();',
      replace: '        mark(entry, { ...NEW_CALLER, bannedUntilMs });\n      }',
      breaks: 'counts that were reset are back after a crash',
    },
  }),
  ...mutantsOf('main/model/problem.ts', ['test/unit/ratelimit/limiter.test.ts'], {
    'limits.reset-rounds-down': {
      find: 'Math.ceil((resetAtMs - offsetMs) / 1000)',
      replace: 'Math.floor((resetAtMs - offsetMs) / 1000)',
      breaks: 'a client that waits for X-RateLimit-Reset comes back too early',
    },
  }),
  ...mutantsOf('main/base/lru.ts', ['test/unit/base/lru.test.ts', 'test/unit/ratelimit/limiter.test.ts'], {
    'limits.order-of-requests-is-lost': {
      find: '      this.#entries.delete(key);\n      this.#append(key, value);\n    }\n    return value;',
      replace: '    }\n    return value;',
      breaks: 'the busiest caller is forgotten first',
    },
  }),
];

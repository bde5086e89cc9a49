import { mutantsOf } from '../mutant.ts';

export const LIMITS = [
  ...mutantsOf('main/model/rate-decision.ts', ['unit/model/rate-decision'], {
    'usage shows strikes of a window that has ended':
      'strikesUntilMs !== null && [-(strikesUntilMs <= nowMs || strikesUntilMs > nowMs + DAY_MS)-]{+strikesUntilMs > nowMs + DAY_MS+}',
    'after the clock went back, usage shows strikes that are still to come': 'strikesUntilMs > nowMs + {+2 * +}DAY_MS',
    'the rate headers describe the day where both windows have as many left':
      'day.remaining <{+=+} minute.remaining ? day : minute',
    'a client that waits for the end of its window is refused once more':
      'nowMs <{+=+} window.startedAtMs + lengthMs ?',
    'a client that waits for Retry-After comes back too early': 'Math.[-ceil-]{+floor+}(atMs / 1000 - nowMs / 1000)',
    'a key is banned at the moment at which its ban ends': 'bannedUntilMs <[-=-] nowMs)',
    'a refusal names the day where the minute ends at the same moment':
      'day.endsAtMs <[-=-] minute.endsAtMs ? minute : day',
    'a preflight shows the minute where the day is used up as well':
      '[-waitFor(minute, day) ?? -]narrower(minute, day)',
    'refusals in two windows add up to a ban':
      '[-(state.strikesUntilMs === exhausted.endsAtMs ? state.strikes : 0)-]{+state.strikes+} + 1',
  }),
  ...mutantsOf('main/ratelimit/limiter.ts', ['unit/ratelimit/limiter'], {
    'limits.reset lifts a ban': '[-{ ...NEW_CALLER, bannedUntilMs }-]{+NEW_CALLER+}',
    'one more refusal after limits.unban bans the key again':
      '{ ...state, [-strikes: 0, strikesUntilMs: null, -]bannedUntilMs: null }',
    'a ban ends early on a busy machine': '[-if (banned && ++scanned < EVICTION_SCAN_MAX) continue;-]',
    'counts after the first write are lost by a restart': '[-for (const entry of dirty) entry.dirty = false;-]',
    'an address is banned like a key': "[-caller.startsWith('key:') ? banRule() : null-]{+banRule()+}",
    'a ban that was lifted is back after a crash': 'bannedUntilMs: null });[-\n      flush();-]',
    'counts that were reset are back after a crash':
      '        mark(entry, { ...NEW_CALLER, bannedUntilMs });\n      }[-\n      flush();-]',
  }),
  ...mutantsOf('main/model/problem.ts', ['unit/ratelimit/limiter'], {
    'a client that waits for X-RateLimit-Reset comes back too early':
      'Math.[-ceil-]{+floor+}((resetAtMs - offsetMs) / 1000)',
  }),
  ...mutantsOf('main/base/lru.ts', ['unit/base/lru', 'unit/ratelimit/limiter'], {
    'the busiest caller is forgotten first':
      '    [-  this.#entries.delete(key);\n      this.#append(key, value);\n    -]}\n    return value;',
  }),
];

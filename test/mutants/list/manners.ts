import { mutantsOf } from '../mutant.ts';

const RULES = ['test/unit/manners/rules.test.ts'];

export const MANNERS = [
  ...mutantsOf('main/manners/rules.ts', RULES, {
    'manners.seven-attempts': {
      find: 'const ATTEMPTS_MAX = 6;',
      replace: 'const ATTEMPTS_MAX = 7;',
      breaks: 'a client gives up too late',
    },
    'manners.two-more-when-refused': {
      find: '(all) => all.length <= 2',
      replace: '(all) => all.length <= 3',
      breaks: 'a client sends two more requests after it was refused',
    },
    'manners.only-the-last-link': {
      find: 'before?.pages ?? new Set<string>()',
      replace: 'new Set<string>()',
      breaks: 'a page that an earlier link led to is the client’s own arithmetic',
    },
    'manners.closed-connections-are-reusable': {
      find: 'attempt.closes || attempt.aborted',
      replace: 'attempt.aborted',
      breaks: 'a client does not reuse connections that the server closes',
    },
    'manners.seven-are-a-crowd': {
      find: 'const CROWD_MIN = 8;',
      replace: 'const CROWD_MIN = 7;',
      breaks: 'seven clients that come back together break a rule',
    },
    'manners.half-a-crowd': {
      find: 'same.length * 2 > crowd.length',
      replace: 'same.length * 2 >= crowd.length',
      breaks: 'half of a crowd that comes back together breaks a rule',
    },
    'manners.any-growth-backs-off': {
      find: 'const GROWTH_MIN = 1.5;',
      replace: 'const GROWTH_MIN = 1.2;',
      breaks: 'waits that hardly grow are kept',
    },
    'manners.libraries-name-themselves': {
      find: '({ userAgent }) => !LIBRARY.test(userAgent)',
      replace: "({ userAgent }) => userAgent !== ''",
      breaks: 'the name of a library is a name of its own',
    },
  }),
  ...mutantsOf('main/manners/attempts.ts', RULES, {
    'manners.a-call-lasts-longer': {
      find: 'const NEXT_CALL_MS = 5 * MINUTE_MS;',
      replace: 'const NEXT_CALL_MS = 6 * MINUTE_MS;',
      breaks: 'an equal request long after belongs to the call',
    },
    'manners.too-early-is-no-failure': {
      find: '[408, 425, 429].includes(status)',
      replace: '[425, 429].includes(status)',
      breaks: '408 may not be repeated',
    },
    'manners.refused-for-ever-on-the-app-clock': {
      find: 'later.realAtMs < realUntilMs && later.atMs < untilMs',
      replace: 'later.realAtMs < realUntilMs',
      breaks: 'a client is refused though the app’s clock shows that a minute is over',
    },
    'manners.timers-are-exact': {
      find: 'const EARLY_MS = 20;',
      replace: 'const EARLY_MS = 0;',
      breaks: 'a client that comes back some milliseconds early has not waited',
    },
    'manners.any-connection-continues': {
      find: 'of.connection === next.connection ? 0 : 1',
      replace: '0',
      breaks: 'of equal requests, the wrong one is said to have been repeated too early',
    },
    'manners.read-at-once': {
      find: 'export const READ_MS = 20;',
      replace: 'export const READ_MS = 0;',
      breaks: 'requests that began together are repetitions of each other',
    },
    'manners.any-failure-explains': {
      find: '(isLong ? 0 : 2)',
      replace: '0',
      breaks: 'workers that wait as told and share connections come back too early',
    },
  }),
  ...mutantsOf('main/manners/report.ts', RULES, {
    'manners.grave-rules-count-as-others': {
      find: "GRADES.indexOf('D') : 0",
      replace: '0 : 0',
      breaks: 'a client that does not wait gets a B',
    },
    'manners.oldest-evidence': {
      find: '.slice(-EVIDENCE_MAX)',
      replace: '.slice(0, EVIDENCE_MAX)',
      breaks: 'of many entries, the oldest are named',
    },
    'manners.late-ends-are-the-clients': {
      find: 'endInOrder(inOrder);',
      replace: '',
      breaks: 'a client came back too early because a busy server noticed the end of its answer late',
    },
  }),
  ...mutantsOf('main/manners/report.ts', ['test/unit/manners/what-if.test.ts'], {
    'manners.last-refusal-is-the-first': {
      find: 'sum.firstRefusedAtMs ??= atMs',
      replace: 'sum.firstRefusedAtMs = atMs',
      breaks: 'the first refusal is the last one',
    },
    'manners.state-forgotten': {
      find: 'entry.state = state;',
      replace: '',
      breaks: 'nobody is refused under another plan',
    },
  }),
  ...mutantsOf(
    'main/breaks/rule-index.ts',
    ['test/unit/breaks/rule-index.test.ts', 'test/unit/breaks/breaks.test.ts'],
    {
      'breaks.after-spares-none': {
        find: 'const place = n - after;',
        replace: 'const place = n;',
        breaks: 'the first N are not spared',
      },
      'breaks.nth-of-all': {
        find: 'place % nth !== 0',
        replace: 'n % nth !== 0',
        breaks: 'every n-th is counted from the spared ones on',
      },
      'breaks.one-more-than-first': {
        find: 'struck >= (rule.first ?? Infinity)',
        replace: 'struck > (rule.first ?? Infinity)',
        breaks: 'one more than the first N is struck',
      },
      'breaks.any-header': {
        find: '(on.header === undefined || facts.headers[on.header.name] === on.header.value) &&',
        replace: '',
        breaks: 'requests without the header field are struck',
      },
    },
  ),
  ...mutantsOf('main/breaks/breaks.ts', ['test/unit/breaks/breaks.test.ts'], {
    'breaks.done-stays-in-the-index': {
      find: 'if (isDone(rule)) refresh();',
      replace: '',
      breaks: 'requests after the first N cost what a break costs',
    },
    'breaks.given-back-stays-done': {
      find: 'if (wasDone) refresh();',
      replace: '',
      breaks: 'a break that struck nothing strikes no more',
    },
    'breaks.done-is-a-twin': {
      find: '&& !isHidden(other) && !isDone(other)',
      replace: '&& !isHidden(other)',
      breaks: 'a break that is done cannot be started again',
    },
    'breaks.first-is-no-difference': {
      find: 'JSON.stringify([entry, first, after, rate, nth, ...sorted])',
      replace: 'JSON.stringify([entry, rate, nth, ...sorted])',
      breaks: 'two breaks that differ in first and after cannot run together',
    },
  }),
];

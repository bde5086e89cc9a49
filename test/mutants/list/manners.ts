import { mutantsOf } from '../mutant.ts';

export const MANNERS = [
  ...mutantsOf('main/manners/rules.ts', ['unit/manners/rules'], {
    'a client gives up too late': 'const ATTEMPTS_MAX = [-6-]{+7+};',
    'a client sends two more requests after it was refused': 'isKept: within.length <= [-1-]{+2+}',
    'a page that an earlier link led to is the client’s own arithmetic': '[-before?.pages ?? -]new Set<string>()',
    'a client does not reuse connections that the server closes': 'attempt.[-closes || attempt.-]aborted',
    'seven clients that come back together break a rule': 'const CROWD_MIN = [-8-]{+7+};',
    'half of a crowd that comes back together breaks a rule': 'same.length * 2 >{+=+} crowd.length',
    'waits that hardly grow are kept': 'const GROWTH_MIN = 1.[-5-]{+2+};',
    'the name of a library is a name of its own':
      "isKept: [-!LIBRARY.test(attempt.userAgent)-]{+attempt.userAgent !== ''+}",
  }),
  ...mutantsOf('main/manners/attempts.ts', ['unit/manners/rules'], {
    'an equal request long after belongs to the call': 'const NEXT_CALL_MS = [-5-]{+6+} * MINUTE_MS;',
    '408 may not be repeated': '[[-408, 425-]{+425+}, 429].includes(status)',
    'a client is refused though the app’s clock shows that a minute is over':
      'later.realAtMs < realUntilMs[- && later.atMs < untilMs-]',
    'a client that comes back some milliseconds early has not waited': 'const EARLY_MS = [-20-]{+0+};',
    'of equal requests, the wrong one is said to have been repeated too early':
      '[-of.connection === next.connection ? 0 : 1-]{+0+}',
    'requests that began together are repetitions of each other': 'export const READ_MS = [-20-]{+0+};',
    'workers that wait as told and share connections come back too early': '[-(isLong ? 0 : 2)-]{+0+}',
  }),
  ...mutantsOf('main/manners/report.ts', ['unit/manners/rules'], {
    'a client that does not wait gets a B': "[-GRADES.indexOf('D')-]{+0+} : 0",
    'of many entries, the oldest are named': '.slice([---]{+0, +}EVIDENCE_MAX)',
    'a client came back too early because a busy server noticed the end of its answer late': '[-endInOrder(inOrder);-]',
  }),
  ...mutantsOf('main/manners/report.ts', ['unit/manners/what-if'], {
    'the first refusal is the last one': 'sum.firstRefusedAtMs [-??-]= atMs',
    'nobody is refused under another plan': '[-states.set(caller, state);-]',
  }),
  ...mutantsOf('main/breaks/rule-index.ts', ['unit/breaks/rule-index', 'unit/breaks/breaks'], {
    'the first N are not spared': 'const place = n[- - after-];',
    'every n-th is counted from the spared ones on': '[-place-]{+n+} % nth !== 0',
    'one more than the first N is struck': 'struck >[-=-] (rule.first ?? Infinity)',
    'requests without the header field are struck':
      '[-(on.header === undefined || facts.headers[on.header.name] === on.header.value) &&-]',
  }),
  ...mutantsOf('main/breaks/breaks.ts', ['unit/breaks/breaks'], {
    'requests after the first N cost what a break costs': '[-if (isDone(rule)) refresh();-]',
    'a break that struck nothing strikes no more': '[-if (wasDone) refresh();-]',
    'a break that is done cannot be started again': '&& !isHidden(other)[- && !isDone(other)-]',
    'two breaks that differ in first and after cannot run together':
      'JSON.stringify([entry, [-first, after, -]rate, nth, ...sorted])',
  }),
];

import { mutantsOf } from '../mutant.ts';

export const TRAFFIC = [
  ...mutantsOf('main/traffic/secret-names.ts', ['test/unit/traffic/presenting.test.ts'], {
    'traffic.auth-token-is-shown': {
      find: "  'token',\n",
      replace: '',
      breaks: 'a secret is in the traffic page and in archives',
    },
    'traffic.proxy-credentials-are-shown': {
      find: "  'authorization',\n",
      replace: '',
      breaks: 'the credentials for a proxy are in the traffic page',
    },
  }),
  ...mutantsOf('main/traffic/entry-log.ts', ['test/unit/traffic/recorder.test.ts'], {
    'traffic.overwritten-entries-are-exported': {
      find: 'if (number >= this.#oldest) yield this.#at(number);',
      replace: 'yield this.#at(number);',
      breaks: 'an archive made under load has other requests in the place of old ones',
    },
    'traffic.newest-comes-twice': {
      find: 'Math.min(before, this.#next) - 1',
      replace: 'Math.min(before, this.#next - 1)',
      breaks: 'a page of the list begins with the last entry of the one before',
    },
    'traffic.connection-of-before': {
      find: 'number >= Math.max(since, this.#oldest)',
      replace: 'number >= Math.min(since, this.#oldest)',
      breaks: "a request that was sent shows another one's entry",
    },
    'traffic.cleared-entries-keep-their-bytes': {
      find: '    this.#rows.clear();\n',
      replace: '',
      breaks: 'secrets of entries that were cleared stay in memory',
    },
  }),
  ...mutantsOf('main/traffic/redact.ts', ['test/unit/traffic/presenting.test.ts'], {
    'traffic.cookie-attributes-are-hidden': {
      find: "[redactPair(pair), ...attributes].join(';')",
      replace: 'redactPair(pair)',
      breaks: 'Path and HttpOnly of a cookie are not shown',
    },
  }),
  ...mutantsOf('main/traffic/recorder.ts', ['test/unit/traffic/recorder.test.ts'], {
    'traffic.one-watcher-too-many': {
      find: 'watchers.size >= WATCHERS_MAX',
      replace: 'watchers.size > WATCHERS_MAX',
      breaks: 'more pages can follow than are meant to',
    },
  }),
  ...mutantsOf('main/traffic/rows.ts', ['test/unit/traffic/recorder.test.ts'], {
    'traffic.replay-of-a-gone-entry': {
      find: 'if (this.has(number)) this.#numbers[this.#row(number) + COLUMN.replayOf] = of;',
      replace: 'this.#numbers[this.#row(number) + COLUMN.replayOf] = of;',
      breaks: 'an entry is called a replay of one that it is not',
    },
  }),
  ...mutantsOf('main/traffic/har.ts', ['test/unit/traffic/har.test.ts'], {
    'traffic.archive-receives-all-the-time': {
      find: 'receive: Math.max(0, durationMs - firstByteMs)',
      replace: 'receive: durationMs',
      breaks: 'the timings of an archive add up to more than its time',
    },
    'traffic.archive-has-pseudo-fields': {
      find: ".filter(({ name }) => !name.startsWith(':'))",
      replace: '',
      breaks: "an archive has header fields that HTTP/1.1 can't send",
    },
  }),
  ...mutantsOf('main/traffic/series.ts', ['test/unit/traffic/series.test.ts'], {
    'traffic.tunnel-counts-as-slow': {
      find: 'if (status !== 101) add(',
      replace: 'add(',
      breaks: 'a WebSocket of an hour is the slowest request',
    },
    'traffic.latency-rounds-down': {
      find: 'Math.ceil(2 * Math.log2(ms / FIRST_ROW_MS))',
      replace: 'Math.floor(2 * Math.log2(ms / FIRST_ROW_MS))',
      breaks: 'percentiles are a row too fast',
    },
  }),
  ...mutantsOf('main/contract/traffic-filter.ts', ['test/unit/traffic/filter.test.ts'], {
    'traffic.at-least-is-more-than': {
      find: "if (operator === '>=') return actual >= limit;",
      replace: "if (operator === '>=') return actual > limit;",
      breaks: 'status:>=500 leaves out 500',
    },
    'traffic.seconds-are-milliseconds': {
      find: '? 1_000 : 1;',
      replace: '? 1 : 1;',
      breaks: 'took:>2s lists everything',
    },
  }),
  ...mutantsOf('main/traffic/entry.ts', ['test/unit/traffic/presenting.test.ts'], {
    'traffic.ids-of-other-runs': {
      find: "prefix !== '' && prefix === prefixAt(number)",
      replace: "prefix !== ''",
      breaks: 'a link of an earlier run leads to another request',
    },
  }),
  ...mutantsOf(
    'main/traffic/replay.ts',
    ['test/integration/engine/traffic.test.ts', 'test/integration/engine/sending.test.ts'],
    {
      'traffic.replay-without-the-key': {
        find: "[['Authorization', `Bearer ${token}`]]",
        replace: '[]',
        breaks: 'a repeated request is counted for the address',
      },
    },
  ),
  ...mutantsOf('main/traffic/reserve.ts', ['test/unit/traffic/recorder.test.ts'], {
    'traffic.a-loud-project-displaces-the-others': {
      find: 'if (share.held < SHARE_ENTRIES) return true;',
      replace: '',
      breaks: 'requests of a quiet project are lost while another one is under load',
    },
  }),
  ...mutantsOf('main/traffic/search.ts', ['test/unit/traffic/filter.test.ts'], {
    'traffic.redacted-headers-are-searched': {
      find: 'redactor.fields([name, value]).some((shown) => lineOf(shown.name, shown.value).includes(text))',
      replace: 'true',
      breaks: 'a secret can be found out by a filter, letter by letter',
    },
  }),
  ...mutantsOf('main/traffic/replay.ts', ['test/integration/engine/traffic.test.ts'], {
    'traffic.redacted-values-are-sent': {
      find: 'same?.[1] ?? value',
      replace: 'value',
      breaks: 'a request that is edited and sent has its cookies cut to an ellipsis',
    },
  }),
];

import { mutantsOf } from '../mutant.ts';

export const TRAFFIC = [
  ...mutantsOf('main/traffic/secret-names.ts', ['unit/traffic/presenting'], {
    'a secret is in the traffic page and in archives': '[-token -]tokens jwt',
    'the credentials for a proxy are in the traffic page': 'credentials[- authorization-]',
  }),
  ...mutantsOf('main/traffic/entry-log.ts', ['unit/traffic/recorder'], {
    'an archive made under load has other requests in the place of old ones':
      '[-if (number >= this.#oldest) -]yield this.#at(number);',
    'a page of the list begins with the last entry of the one before':
      'Math.min[-(before, this.#next) - 1-]{+(before, this.#next - 1)+}',
    "a request that was sent shows another one's entry": 'number >= Math.[-max-]{+min+}(since, this.#oldest)',
    'secrets of entries that were cleared stay in memory': '[-    this.#rows.clear();\n-]',
  }),
  ...mutantsOf('main/traffic/redact.ts', ['unit/traffic/presenting'], {
    'Path and HttpOnly of a cookie are not shown':
      "[-[redactPair(pair), ...attributes].join(';')-]{+redactPair(pair)+}",
  }),
  ...mutantsOf('main/traffic/recorder.ts', ['unit/traffic/recorder'], {
    'more pages can follow than are meant to': 'watchers.size >[-=-] WATCHERS_MAX',
  }),
  ...mutantsOf('main/traffic/rows.ts', ['unit/traffic/recorder'], {
    'an entry is called a replay of one that it is not':
      '[-if (this.has(number)) -]this.#numbers[this.#row(number) + COLUMN.replayOf] = of;',
  }),
  ...mutantsOf('main/traffic/har.ts', ['unit/traffic/har'], {
    'the timings of an archive add up to more than its time':
      'receive: [-Math.max(0, durationMs - firstByteMs)-]{+durationMs+}',
    "an archive has header fields that HTTP/1.1 can't send": "[-.filter(({ name }) => !name.startsWith(':'))-]",
  }),
  ...mutantsOf('main/traffic/series.ts', ['unit/traffic/series'], {
    'a WebSocket of an hour is the slowest request': '[-if (status !== 101) -]add(',
    'percentiles are a row too fast': 'Math.[-ceil-]{+floor+}(2 * Math.log2(ms / FIRST_ROW_MS))',
  }),
  ...mutantsOf('main/contract/traffic-filter.ts', ['unit/traffic/filter'], {
    'status:>=500 leaves out 500': "if (operator === '>=') return actual >[-=-] limit;",
    'took:>2s lists everything': '? [-1_000-]{+1+} : 1;',
  }),
  ...mutantsOf('main/traffic/entry.ts', ['unit/traffic/presenting'], {
    'a link of an earlier run leads to another request': "prefix !== ''[- && prefix === prefixAt(number)-]",
  }),
  ...mutantsOf('main/traffic/replay.ts', ['integration/engine/traffic', 'integration/engine/sending'], {
    'a repeated request is counted for the address': "[[-['Authorization', `Bearer ${token}`]-]]",
  }),
  ...mutantsOf('main/traffic/reserve.ts', ['unit/traffic/recorder'], {
    'requests of a quiet project are lost while another one is under load':
      '[-if (share.held < SHARE_ENTRIES) return true;-]',
  }),
  ...mutantsOf('main/traffic/search.ts', ['unit/traffic/filter'], {
    'a secret can be found out by a filter, letter by letter':
      '[-redactor.fields([name, value]).some((shown) => lineOf(shown.name, shown.value).includes(text))-]{+true+}',
  }),
  ...mutantsOf('main/traffic/replay.ts', ['integration/engine/traffic'], {
    'a request that is edited and sent has its cookies cut to an ellipsis': '[-same?.[1] ?? -]value',
  }),
];

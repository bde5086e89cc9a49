import { mutantsOf } from '../mutant.ts';

export const RENDERER = [
  ...mutantsOf('renderer/connection/live-query.svelte.ts', ['test/unit/renderer/connection/live-query.test.ts'], {
    'renderer.change-during-a-read-is-lost': {
      find: '    } finally {\n      this.#reading = false;\n',
      replace: '    } finally {\n      this.#reading = false;\n      this.#wanted = false;\n',
      breaks: 'a page stays as it was when something changes while it is read',
    },
  }),
  ...mutantsOf('renderer/shared/session/toasts.svelte.ts', ['test/unit/renderer/shared/session/toasts.test.ts'], {
    'renderer.five-toasts': {
      find: 'this.#list.length + 1 - TOASTS_MAX',
      replace: 'this.#list.length - TOASTS_MAX',
      breaks: 'five reports are shown',
    },
    'renderer.report-goes-while-it-is-read': {
      find: 'if (!this.#held) this.#dismissLater(toast.id);',
      replace: 'this.#dismissLater(toast.id);',
      breaks: 'a report goes while someone reads it',
    },
    'renderer.report-is-repeated': {
      find: 'if (before !== undefined) this.dismiss(before.id);',
      replace: '',
      breaks: 'each of many equal reports is shown',
    },
  }),
  ...mutantsOf('renderer/shared/limits/callers.ts', ['test/unit/renderer/shared/limits/callers.test.ts'], {
    'renderer.window-shown-at-its-end': {
      find: 'resetsAtMs <= nowMs',
      replace: 'resetsAtMs < nowMs',
      breaks: 'a gauge is full at the moment at which its window ends',
    },
    'renderer.near-after-80-percent': {
      find: 'share >= NEAR_LIMIT_SHARE',
      replace: 'share > NEAR_LIMIT_SHARE',
      breaks: 'a caller at 80 % of its limit looks fine',
    },
    'renderer.ban-shown-at-its-end': {
      find: 'untilMs > nowMs ? untilMs',
      replace: 'untilMs >= nowMs ? untilMs',
      breaks: 'a key is shown as banned when its ban is over',
    },
  }),
  ...mutantsOf(
    'renderer/pages/traffic/traffic-log.svelte.ts',
    ['test/unit/renderer/pages/traffic/traffic-log.test.ts'],
    {
      'renderer.entry-comes-twice': {
        find: 'numberOf(entry) > this.#newest',
        replace: 'numberOf(entry) >= this.#newest',
        breaks: 'an entry is listed twice',
      },
      'renderer.missed-forgotten-while-held': {
        find: 'if (this.#missed > 0) this.#awaitQuiet();\n  }\n\n  /** Shows',
        replace: '}\n\n  /** Shows',
        breaks: 'entries that came too fast while the list was held never show',
      },
    },
  ),
  ...mutantsOf('renderer/shared/controls/form.svelte.ts', ['test/unit/renderer/shared/controls/form.test.ts'], {
    'renderer.force-stays-on-offer': {
      find: '    this.#forcible = false;\n',
      replace: '',
      breaks: 'a form offers to force what was not refused',
    },
  }),
  ...mutantsOf('main/contract/record-plan.ts', ['test/unit/renderer/pages/domains/attach/record-plan.test.ts'], {
    'renderer.farthest-zone': {
      find: 'b.name.length - a.name.length',
      replace: 'a.name.length - b.name.length',
      breaks: 'a record is put into the parent zone',
    },
  }),
  ...mutantsOf('renderer/shared/domains/leaf-life.ts', ['test/unit/renderer/pages/certificates/certificates.test.ts'], {
    'renderer.due-after-its-renewal': {
      find: 'leftMs <= renewalLeftMs',
      replace: 'leftMs < renewalLeftMs',
      breaks: 'a leaf looks fine at the moment at which it is to be renewed',
    },
  }),
  ...mutantsOf(
    'renderer/pages/pets/grid/grid-cursor.svelte.ts',
    ['test/unit/renderer/pages/pets/grid/grid-cursor.test.ts'],
    {
      'renderer.cursor-leaves-the-grid': {
        find: 'Math.min(rows - 1, nextRow)',
        replace: 'Math.min(rows, nextRow)',
        breaks: 'the arrow leads below the last row',
      },
    },
  ),
];

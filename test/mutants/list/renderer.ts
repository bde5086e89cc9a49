import { mutantsOf } from '../mutant.ts';

export const RENDERER = [
  ...mutantsOf('renderer/connection/live-query.svelte.ts', ['unit/renderer/connection/live-query'], {
    'a page stays as it was when something changes while it is read':
      '    } finally {\n      this.#reading = false;\n{+      this.#wanted = false;\n+}',
  }),
  ...mutantsOf('renderer/shared/session/toasts.svelte.ts', ['unit/renderer/shared/session/toasts'], {
    'five reports are shown': 'this.list.length [-+ 1 -]- TOASTS_MAX',
    'a report goes while someone reads it': '[-if (!this.#held) -]this.#dismissLater(toast.id);',
    'each of many equal reports is shown': '[-if (before !== undefined) this.dismiss(before.id);-]',
  }),
  ...mutantsOf('renderer/shared/limits/callers.ts', ['unit/renderer/shared/limits/callers'], {
    'a gauge is full at the moment at which its window ends': 'resetsAtMs <[-=-] nowMs',
    'a caller at 80 % of its limit looks fine': 'share >[-=-] NEAR_LIMIT_SHARE',
    'a key is shown as banned when its ban is over': 'untilMs >{+=+} nowMs ? untilMs',
  }),
  ...mutantsOf('renderer/pages/traffic/traffic-log.svelte.ts', ['unit/renderer/pages/traffic/traffic-log'], {
    'an entry is listed twice': 'numberOf(entry) >{+=+} this.#newest',
    'entries that came too fast while the list was held never show':
      '[-if (this.missed > 0) this.#awaitQuiet();\n  -]}\n\n  /** Shows',
  }),
  ...mutantsOf('renderer/shared/controls/form.svelte.ts', ['unit/renderer/shared/controls/form'], {
    'a form offers to force what was not refused': '[-    this.forcible = false;\n-]',
  }),
  ...mutantsOf('main/contract/record-plan.ts', ['unit/renderer/shared/domains/record-plan'], {
    'a record is put into the parent zone': '[-b.name.length - a-]{+a.name.length - b+}.name.length',
  }),
  ...mutantsOf('renderer/shared/domains/leaf-life.ts', ['unit/renderer/pages/certificates/certificates'], {
    'a leaf looks fine at the moment at which it is to be renewed': 'leftMs <[-=-] renewalLeftMs',
  }),
  ...mutantsOf('renderer/pages/pets/grid/grid-cursor.svelte.ts', ['unit/renderer/pages/pets/grid/grid-cursor'], {
    'the arrow leads below the last row': 'Math.min(rows[- - 1-], nextRow)',
  }),
];

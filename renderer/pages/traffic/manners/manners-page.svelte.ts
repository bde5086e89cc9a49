import type { MannersReport, WhatIf } from '../../../../main/contract/manners.ts';
import { LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';
import { readCount } from '../../../shared/controls/typed-count.ts';

/** How often both are read again: a report of a full log takes the engine a tenth of a second. */
export const REREAD_MS = 5_000;

/** The limits by which the requests are decided again: the project's own, a plan's, or typed ones. */
export type AsIf = 'as-it-is' | 'free' | 'pro' | 'own';

/** The Manners tab: the grades of a project, or of all, and the requests decided again. */
export class MannersState {
  readonly report: LiveQuery<MannersReport>;
  readonly whatIf: LiveQuery<WhatIf>;
  asIf = $state<AsIf>('as-it-is');
  own = $state({ perMinute: '20', perDay: '1000' });
  #timer: { cancel(): void };

  constructor(source: Source & { projectId: string | undefined }) {
    const { client, changes, time, projectId } = source;
    const part = projectId === undefined ? {} : { projectId };
    // New requests come too often to read it after each.
    this.report = new LiveQuery(source, [], (signal) => client.manners.report(part, { signal }));
    this.whatIf = new LiveQuery(source, [], (signal) =>
      client.manners.whatIf({ ...part, ...this.#limits }, { signal }),
    );
    const reread = (): void => {
      if (changes.following) for (const query of [this.report, this.whatIf]) query.reread();
      this.#timer = time.realTimer(REREAD_MS, reread);
    };
    this.#timer = time.realTimer(REREAD_MS, reread);
  }

  decideBy(asIf: AsIf): void {
    this.asIf = asIf;
    this.whatIf.reread('now');
  }

  close(): void {
    this.#timer.cancel();
    this.report.close();
    this.whatIf.close();
  }

  get #limits() {
    if (this.asIf === 'as-it-is') return {};
    if (this.asIf !== 'own') return { plan: this.asIf };
    const { perMinute, perDay } = this.own;
    // What is no number is refused with a sentence.
    return { limits: { perMinute: readCount(perMinute) ?? 0, perDay: readCount(perDay) ?? 0 } };
  }
}

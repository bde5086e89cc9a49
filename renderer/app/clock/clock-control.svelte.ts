import { MINUTE_MS } from '../../../main/contract/duration.ts';
import type { ClockMove, ClockReading } from '../../../main/contract/status.ts';
import { withTitle } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import type { AppClock } from '../../shared/time/app-clock.svelte.ts';
import { formatMoment } from '../../shared/time/format.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { Task } from '../../shared/controls/task.svelte.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';

export interface Preset {
  by: string;
  /** The button label: `+1 h`. */
  short: string;
  /** The sentence: "Forward by 1 hour". */
  long: string;
}

/** Useful lengths: the two rate windows, a ban, the daily check, a renewal, a certificate's life. */
export const PRESETS: readonly Preset[] = [
  { by: 'PT1M', short: '1 min', long: '1 minute' },
  { by: 'PT10M', short: '10 min', long: '10 minutes' },
  { by: 'PT1H', short: '1 h', long: '1 hour' },
  { by: 'P1D', short: '1 day', long: '1 day' },
  { by: 'P30D', short: '30 days', long: '30 days' },
  { by: 'P90D', short: '90 days', long: '90 days' },
];

/** The removal of getPet (specification, section 4.3). */
export const SUNSET = '2030-12-05T00:00:00.000Z';

export interface ClockControlOptions {
  client: Client;
  clock: AppClock;
  toasts: Pick<Toasts, 'say' | 'fail'>;
}

/** Moves the app's clock and reports the events that fell due. */
export class ClockControl {
  readonly forwarding: Form<{ by: string }, ClockMove>;
  readonly setting: Form<{ to: string }, ClockMove>;
  readonly #adjusting: Task<[adjust: () => Promise<string>], string>;
  readonly #options: ClockControlOptions;
  readonly busy = $derived.by(() => this.#adjusting.running || this.forwarding.submitting || this.setting.submitting);

  constructor(options: ClockControlOptions) {
    this.#options = options;
    const { client } = options;
    this.forwarding = new Form({ values: { by: '' }, submit: ({ by }) => client.clock.advance({ by }) });
    this.setting = new Form({ values: { to: '' }, submit: ({ to }) => client.clock.set({ to: readMoment(to) }) });
    this.#adjusting = new Task((adjust) => adjust());
  }

  /** Sets the date and time field to the app's time. */
  showNow(): void {
    this.setting.reset({ to: typedMoment(this.#options.clock.nowMs) });
  }

  /** Advances by the duration in the field. True on success. */
  async forward(): Promise<boolean> {
    const { by } = this.forwarding.values;
    const move = await this.forwarding.submit();
    if (move === undefined) return false;
    this.forwarding.reset({ by: '' });
    this.#report(this.#describe(`Forward by ${by.trim()}.`, move));
    return true;
  }

  /** Moves to the date and time in the field. True on success. */
  async set(): Promise<boolean> {
    const move = await this.setting.submit();
    if (move === undefined) return false;
    this.#report(this.#describe(`Set to ${formatMoment(Date.parse(move.now))}.`, move));
    return true;
  }

  advance = ({ by, long }: Preset): Promise<void> =>
    this.#adjust(async () => this.#describe(`Forward by ${long}.`, await this.#options.client.clock.advance({ by })));

  toSunset = (): Promise<void> =>
    this.#adjust(async () => {
      const move = await this.#options.client.clock.set({ to: SUNSET });
      return this.#describe(`Set to ${formatMoment(Date.parse(move.now))}.`, move);
    });

  freeze = (): Promise<void> =>
    this.#adjust(async () => {
      this.#options.clock.accept(await this.#options.client.clock.freeze());
      return 'The clock is frozen. Nothing falls due until it runs again.';
    });

  resume = (): Promise<void> =>
    this.#adjust(async () => {
      this.#options.clock.accept(await this.#options.client.clock.resume());
      return 'The clock runs again from where it was.';
    });

  reset = (): Promise<void> =>
    this.#adjust(async () => this.#describe('Back to the real time.', await this.#options.client.clock.reset()));

  async #adjust(adjust: () => Promise<string>): Promise<void> {
    const message = await this.#adjusting.start(adjust);
    if (message !== undefined) this.#report(message);
    else if (this.#adjusting.failure !== undefined)
      this.#options.toasts.fail(withTitle('The clock was not moved.', this.#adjusting.failure));
  }

  /** Warns where a move made something worse, in the engine's words. */
  #report(message: string): void {
    this.#options.toasts.say(
      message,
      undefined,
      / (?:failed|refused|expired|misconfigured)\./.test(message) ? 'warned' : 'done',
    );
  }

  /** Shows the new time at once and reports the events that the move triggered. */
  #describe(done: string, { happened, ...reading }: ClockMove & ClockReading): string {
    const { clock } = this.#options;
    const isForward = Date.parse(reading.now) > clock.nowMs;
    clock.accept(reading);
    this.showNow();
    return [done, ...(happened.length === 0 && isForward ? ['Nothing fell due.'] : happened)].join(' ');
  }
}

/** As a date is typed, in the machine's zone: `2026-11-20 09:00:42`. */
function typedMoment(atMs: number): string {
  const zoneMs = new Date(atMs).getTimezoneOffset() * MINUTE_MS;
  return new Date(atMs - zoneMs).toISOString().slice(0, 'yyyy-mm-dd hh:mm:ss'.length).replace('T', ' ');
}

/** The engine's input for a typed date, with or without a time; in the reader's time zone unless it names one. */
function readMoment(text: string): string {
  const [date, time = '00:00'] = text.trim().split(/[ T]+/);
  const atMs = Date.parse(`${date}T${time}`);
  return Number.isNaN(atMs) ? text : new Date(atMs).toISOString();
}

import type { ClockReading } from '../../../main/contract/status.ts';
import type { RealTime } from './real-time.ts';

/** Readings jitter with latency; below this difference the running estimate is smoother than a new reading. */
const JITTER_MS_MAX = 250;

/** The page shows seconds, so the estimate updates once a second, just after the second begins. */
const TICK_MS = 1_000;
const TICK_MARGIN_MS = 5;

/** The app's clock on the page: the engine's last reading, extrapolated in real time. Every countdown reads `nowMs`. */
export class AppClock {
  #reading = $state.raw<ClockReading | null>(null);
  /** The app's time in epoch milliseconds, updated every second. */
  nowMs = $state(0);
  #anchorMs = 0;
  #anchoredAt = 0;
  #timer: { cancel(): void } | null = null;
  readonly #time: RealTime;
  /** Whether the engine has reported its time. */
  readonly known: boolean = $derived.by(() => this.#reading !== null);
  readonly frozen: boolean = $derived.by(() => this.#reading?.frozen ?? false);
  /** Whether the app's clock is frozen or differs from real time. */
  readonly moved = $derived.by(
    () => this.#reading !== null && (this.#reading.frozen || this.#reading.offset !== 'PT0S'),
  );

  constructor(time: RealTime) {
    this.#time = time;
  }

  /** The offset of the app's clock from real time; negative when behind. */
  get offsetMs(): number {
    const reading = this.#reading;
    return reading === null ? 0 : Date.parse(reading.now) - Date.parse(reading.realNow);
  }

  accept(reading: ClockReading): void {
    const readingMs = Date.parse(reading.now);
    const jumped =
      this.#reading === null ||
      reading.frozen ||
      this.#reading.frozen !== reading.frozen ||
      Math.abs(readingMs - this.#estimateMs()) > JITTER_MS_MAX;
    this.#reading = reading;
    if (!jumped) return;
    this.#anchorMs = readingMs;
    this.#anchoredAt = this.#time.monotonic();
    this.#tick();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  #estimateMs(): number {
    return this.frozen ? this.#anchorMs : this.#anchorMs + (this.#time.monotonic() - this.#anchoredAt);
  }

  #tick(): void {
    this.stop();
    const estimateMs = Math.floor(this.#estimateMs());
    this.nowMs = estimateMs;
    if (this.frozen) return;
    const untilNextMs = TICK_MS - (((estimateMs % TICK_MS) + TICK_MS) % TICK_MS) + TICK_MARGIN_MS;
    this.#timer = this.#time.realTimer(untilNextMs, () => this.#tick());
  }
}

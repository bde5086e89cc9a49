import type { RealTime } from '../time/real-time.ts';

/** Long enough for a screen reader to start; the text is cleared afterwards so it can be repeated. */
const SPOKEN_MS = 2_000;

/** Announcements for screen readers, from a single live region so they do not interrupt each other. */
export class Announcer {
  text = $state('');
  #timer: { cancel(): void } | null = null;
  readonly #time: RealTime;

  constructor(time: RealTime) {
    this.#time = time;
  }

  say(text: string): void {
    this.text = text;
    this.#timer?.cancel();
    this.#timer = this.#time.realTimer(SPOKEN_MS, () => {
      this.text = '';
    });
  }
}

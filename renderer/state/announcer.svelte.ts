import type { RealTime } from '../time/real-time.ts';

/** Long enough for a screen reader to begin; then the text goes, so that the same words can be said again. */
const SPOKEN_MS = 2_000;

/** What is said aloud to those who listen instead of look. One voice for the page, so that nothing interrupts itself. */
export class Announcer {
  #text = $state('');
  #timer: { cancel(): void } | null = null;
  readonly #time: RealTime;

  constructor(time: RealTime) {
    this.#time = time;
  }

  get text(): string {
    return this.#text;
  }

  say(text: string): void {
    this.#text = text;
    this.#timer?.cancel();
    this.#timer = this.#time.realTimer(SPOKEN_MS, () => {
      this.#text = '';
    });
  }
}

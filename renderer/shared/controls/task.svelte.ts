import { describeFailure } from '../../connection/failure.ts';

/** A call made by the user: one at a time, with its failure kept until the next attempt. */
export class Task<Input extends readonly unknown[] = [], Output = unknown> {
  running = $state(false);
  /** The reason the last attempt failed, as a sentence for the user. */
  failure = $state<string | undefined>(undefined);
  readonly #run: (...input: Input) => Promise<Output>;

  constructor(run: (...input: Input) => Promise<Output>) {
    this.#run = run;
  }

  /** Runs the call; the result, or undefined when it failed or is already running. */
  async start(...input: Input): Promise<Output | undefined> {
    if (this.running) return undefined;
    this.running = true;
    this.failure = undefined;
    try {
      return await this.#run(...input);
    } catch (error) {
      this.failure = describeFailure(error);
      return undefined;
    } finally {
      this.running = false;
    }
  }

  clear(): void {
    this.failure = undefined;
  }
}

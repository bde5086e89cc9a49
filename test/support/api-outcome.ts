import { VivariumError } from '../../main/contract/errors.ts';

/** What a reader makes of an input: the value, or the error that the request is answered with. */
export type Outcome<Value> = { value: Value } | { error: VivariumError };

/** The reader, with its errors as values. */
export function outcomeOf<Input, Value>(read: (input: Input) => Value): (input: Input) => Outcome<Value> {
  return (input) => {
    try {
      return { value: read(input) };
    } catch (error) {
      if (error instanceof VivariumError) return { error };
      throw error;
    }
  };
}

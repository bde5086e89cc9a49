import { VivariumError } from '../../main/contract/errors.ts';

/** Result of reading an input: the value, or the error of the answer. */
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

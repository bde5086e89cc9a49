/** Calls its listeners with each value, in order of subscription. Skips listeners that unsubscribe meanwhile. */
export interface Signal<Value> {
  emit(value: Value): void;
  subscribe(listener: (value: Value) => void): () => void;
}

export function createSignal<Value>(): Signal<Value> {
  const listeners = new Set<(value: Value) => void>();
  return {
    emit(value) {
      for (const listener of listeners) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

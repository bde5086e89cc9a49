import { EventEmitter } from 'node:events';
import { fault } from './driver.ts';

/** Properties that the language itself reads of any object, to await or to print it. */
const ASKED_BY_ANYBODY: ReadonlySet<string> = new Set(['then', 'toJSON', 'constructor', 'inspect']);

/**
 * `part` as the program sees it: using a missing member ends the process with the member's name. Private state works,
 * because methods run on the part itself.
 */
export function strictly<Part extends object>(name: string, part: Part): Part {
  const bound = new Map<string | symbol, unknown>();
  return new Proxy(part, {
    get(target, property) {
      if (typeof property === 'string' && !(property in target) && !ASKED_BY_ANYBODY.has(property)) {
        fault(`does not carry out ${name}.${property}.`);
      }
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function' || property === 'constructor') return value;
      if (!bound.has(property)) bound.set(property, value.bind(target));
      return bound.get(property);
    },
    set: (_target, property) => fault(`does not let ${name}.${String(property)} be set.`),
  });
}

/** An object with known members only; for values passed as options. */
export function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) fault(`does not carry out the option "${unknown}" of ${what}.`);
}

/** An event as Electron passes it: it can be prevented. */
export interface StandInEvent {
  preventDefault(): void;
  readonly defaultPrevented: boolean;
}

export function createEvent<Fields extends object>(name: string, fields: Fields): StandInEvent & Fields {
  let prevented = false;
  const event = {
    ...fields,
    preventDefault() {
      prevented = true;
    },
    get defaultPrevented() {
      return prevented;
    },
  };
  return strictly(`the event "${name}"`, event);
}

/** What a stand-in has of Electron's own type, for `implements` to compare. */
export type Typed<Real, Own> = Pick<Real, Exclude<keyof Real & keyof Own, keyof EventEmitter>>;

type Listener = (...values: unknown[]) => void;

/**
 * Emits the events that it was created with. Listening for any other ends the process: the listener would wait for
 * ever.
 */
export class StrictEmitter extends EventEmitter {
  readonly #name: string;
  readonly #events: readonly string[];

  constructor(name: string, events: readonly string[]) {
    super();
    this.#name = name;
    this.#events = events;
  }

  override on(event: string, listener: (...values: never[]) => void): this {
    this.#check(event);
    return super.on(event, listener as Listener);
  }

  override once(event: string, listener: (...values: never[]) => void): this {
    this.#check(event);
    return super.once(event, listener as Listener);
  }

  override addListener(event: string, listener: (...values: never[]) => void): this {
    return this.on(event, listener);
  }

  #check(event: string): void {
    // Node's own bookkeeping.
    if (event === 'newListener' || event === 'removeListener') return;
    if (!this.#events.includes(event)) fault(`never emits "${event}" of ${this.#name}.`);
  }
}

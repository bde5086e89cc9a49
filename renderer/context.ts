import { createContext, onDestroy, untrack } from 'svelte';
import type { Command, Commands } from './commands/commands.svelte.ts';
import type { Navigator } from './navigation/navigator.svelte.ts';
import type { Announcer } from './state/announcer.svelte.ts';
import type { Preferences } from './state/preferences.svelte.ts';
import type { Toasts } from './state/toasts.svelte.ts';
import type { AppClock } from './time/app-clock.svelte.ts';
import type { RealTime } from './time/real-time.ts';

/** What components anywhere in the page may need, without every parent handing it down. */
export interface PageContext {
  readonly announcer: Announcer;
  readonly commands: Commands;
  readonly navigator: Navigator;
  readonly preferences: Preferences;
  readonly time: RealTime;
  readonly toasts: Toasts;
}

export const [getPage, setPage] = createContext<PageContext>();

/** The app's clock, for whatever counts down. Set where there is a session. */
export const [getClock, setClock] = createContext<AppClock>();

/** Offers what a component can do to palette and keyboard for as long as it is shown. `list` may read reactive state. */
export function offerCommands(list: () => readonly Command[]): void {
  onDestroy(getPage().commands.offer(list));
}

/**
 * Makes the state of a component once, and closes it when the component goes. What `make` reads is read as it is then: a
 * component whose state is about another thing is made anew for it (`{#key}`).
 */
export function useState<State>(make: () => State & ({ close?: () => void } | undefined)): State {
  const state = untrack(make);
  onDestroy(() => state?.close?.());
  return state;
}

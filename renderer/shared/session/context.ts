import { createContext, onDestroy, untrack } from 'svelte';
import type { Connection } from '../../connection/connection.svelte.ts';
import type { Command, Commands } from '../navigation/commands.svelte.ts';
import type { Connecting } from '../reach/connecting.svelte.ts';
import type { Opener } from '../reach/opener.svelte.ts';
import type { Navigator } from '../navigation/navigator.svelte.ts';
import type { Announcer } from './announcer.svelte.ts';
import type { KeptValues } from './storage.ts';
import type { Preferences } from './preferences.svelte.ts';
import type { Toasts } from './toasts.svelte.ts';
import type { AppClock } from '../time/app-clock.svelte.ts';
import type { RealTime } from '../time/real-time.ts';

/** The page-wide state that components read from the context instead of props. */
export interface PageContext {
  readonly announcer: Announcer;
  readonly commands: Commands;
  readonly connecting: Connecting;
  readonly drafts: KeptValues;
  readonly navigator: Navigator;
  readonly preferences: Preferences;
  readonly time: RealTime;
  readonly toasts: Toasts;
}

export const [getPage, setPage] = createContext<PageContext>();

/** The app's clock, for countdowns. Set while there is a session. */
export const [getClock, setClock] = createContext<AppClock>();

/** The connection to the engine, for what waits for an answer. Set while there is a session. */
export const [getConnection, setConnection] = createContext<Pick<Connection, 'phase'>>();

/** Opens hostnames in a browser. Set while there is a session. */
export const [getOpener, setOpener] = createContext<Opener>();

/** Offers a component's commands to palette and keyboard while it is shown. `list` may read reactive state. */
export function offerCommands(list: () => readonly (Offered | false | undefined)[]): void {
  const all = (): Command[] => list().flatMap((each) => (each ? [{ group: 'This page', ...each }] : []));
  onDestroy(getPage().commands.offer(all));
}

/** A command of the visible view; its group is "This page" unless it says otherwise. */
type Offered = Omit<Command, 'group'> & Partial<Pick<Command, 'group'>>;

/**
 * Creates the state of a component once and closes it on destroy. `make` is not reactive: wrap the component in
 * `{#key}` to create it again.
 */
export function useState<State>(make: () => State & ({ close?: () => void } | undefined)): State {
  const state = untrack(make);
  onDestroy(() => state?.close?.());
  return state;
}

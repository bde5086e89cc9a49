import { createContext } from 'svelte';
import type { Announcer } from './state/announcer.svelte.ts';
import type { AppClock } from './time/app-clock.svelte.ts';
import type { RealTime } from './time/real-time.ts';

/** What components anywhere in the page may need, without every parent handing it down. */
export interface PageContext {
  announcer: Announcer;
  time: RealTime;
}

export const [getPage, setPage] = createContext<PageContext>();

/** The app's clock, for whatever counts down. Set where there is a session. */
export const [getClock, setClock] = createContext<AppClock>();

import type { Settings } from '../../main/contract/settings.ts';
import { LiveQuery, type Source } from '../live/live-query.svelte.ts';

/** What state of a view is made from that goes by the engine's settings too. */
export interface SettingsSource extends Source {
  settings: LiveQuery<Settings>;
}

/** The engine's settings; one query for the whole page. */
export const settingsQuery = ({ client, changes, time }: Source): LiveQuery<Settings> =>
  new LiveQuery({
    changes,
    time,
    read: (signal) => client.settings.get({}, { signal }),
    concerns: ({ type }) => type === 'settings.changed',
  });

import type { Settings } from '../../../main/contract/settings.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

/** The source of view state that also depends on the engine's settings. */
export interface SettingsSource extends Source {
  settings: LiveQuery<Settings>;
}

/** The engine's settings; one query shared by the whole page. */
export const settingsQuery = (source: Source): LiveQuery<Settings> =>
  new LiveQuery(source, ['settings.changed'], (signal) => source.client.settings.get({}, { signal }));

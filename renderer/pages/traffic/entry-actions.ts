import type { TrafficEntry } from '../../../main/contract/traffic.ts';
import { hostnameOf } from './entry/entry-look.ts';
import { isArchived } from './archive/har-reader.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';
import type { TrafficPage } from './traffic-page.svelte.ts';
import type { MenuItem } from '../../shared/layers/Menu.svelte';

interface EntryActions {
  page: TrafficPage;
  toasts: Toasts;
  /** Opens the entry and runs a command of its pane. */
  inPane: (command: string) => void;
}

/** The actions of an entry's row; entries of an archive have no caller here and are never sent unchanged. */
export function entryActions(entry: TrafficEntry, { page, toasts, inPane }: EntryActions): MenuItem[] {
  const { authority, running, scheme, target, keyId, address } = entry;
  const hostname = hostnameOf(entry);
  const isHere = !isArchived(entry.id);

  const copy = (): Promise<void> =>
    toasts.attempt('The address was not copied.', async () => {
      await window.navigator.clipboard.writeText(`${scheme}://${authority ?? ''}${target}`);
      toasts.say('Copied the address.');
    });
  const narrow = (whose: string, filter: string): MenuItem => ({
    label: `Only requests ${whose}`,
    icon: 'filter',
    run: () => page.setQuery({ filter }),
  });

  return [
    { label: 'Send again', icon: 'again', disabled: running, run: () => inPane('send-again') },
    { label: 'Edit and send…', icon: 'edit', disabled: running, run: () => inPane('edit-and-send') },
    ...(isHere ? [{ label: 'Show as code', icon: 'terminal' as const, run: () => inPane('request-as-code') }] : []),
    comparison(entry, page),
    ...(authority === null ? [] : [{ label: 'Copy the address', icon: 'copy' as const, run: () => void copy() }]),
    ...(hostname === '' ? [] : [narrow(`to ${hostname}`, `host:${hostname}`)]),
    ...(isHere
      ? [narrow(`of ${page.callerOf(entry)}`, keyId === undefined ? `address:${address}` : `key:${keyId}`)]
      : []),
  ];
}

/** Compares with the entry chosen before, else with the open one; without either, chooses this entry. */
function comparison(entry: TrafficEntry, page: TrafficPage): MenuItem {
  const { base, item } = page;
  if (base !== undefined && base.id !== entry.id) {
    return { label: 'Compare with the chosen one', icon: 'compare', run: () => page.compare(entry) };
  }
  if (item !== undefined && item !== entry.id) {
    const compared = { left: item, right: entry.id };
    return { label: 'Compare with the open one', icon: 'compare', run: () => (page.compared = compared) };
  }
  const choose = (): void => {
    page.show(entry.id);
    if (base === undefined) page.compare(entry);
  };
  return { label: 'Compare with another…', icon: 'compare', run: choose };
}

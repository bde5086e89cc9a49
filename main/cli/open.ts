import { askForSignInLink, openInBrowser } from '../base/open-in-browser.ts';
import { askForStatus } from './engine-status.ts';
import { localCommand } from './local-command.ts';

export const OPEN = localCommand({
  name: 'open',
  title: 'open the interface in the default browser, signed in',
  options: [],
  notes: [
    'Where no browser can be opened, it prints a link that signs in once, within a minute.',
    '',
    'Exit code 0; 2 when no Vivarium runs on the data folder.',
  ],
  examples: ['vivarium open'],
  async run(_read, dataDir, io) {
    const { running } = await askForStatus(dataDir);
    const link = await askForSignInLink(running);
    const opened = await openInBrowser(link, io);
    io.stdout.write(
      opened
        ? `Opened ${running.url} in the browser.\n`
        : `No browser could be opened. This link works once, within a minute:\n\n  ${link}\n`,
    );
  },
});

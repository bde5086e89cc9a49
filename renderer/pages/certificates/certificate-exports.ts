import type { CertificateFile } from '../../../main/contract/certificates.ts';
import type { MenuItem } from '../../shared/layers/Menu.svelte';
import { saveFile } from '../../shared/session/save-file.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';

type Format = CertificateFile['format'];

/** The menu items that export a certificate in each format. `what`: as in "Copied the root as PEM." */
export function exportsOf(
  what: string,
  toasts: Toasts,
  read: (format: Format) => Promise<CertificateFile>,
): MenuItem[] {
  const making = (format: Format, use: (made: CertificateFile) => Promise<void> | void) => () =>
    void toasts.attempt(`Could not export ${what}.`, async () => await use(await read(format)));

  async function copy(made: CertificateFile): Promise<void> {
    if (made.format === 'pem') await navigator.clipboard.writeText(made.text);
    toasts.say(`Copied ${what} as PEM.`);
  }

  function save(made: CertificateFile): void {
    if (made.format === 'pem') saveFile(made.fileName, made.text, 'application/x-pem-file');
    else saveFile(made.fileName, Uint8Array.from(atob(made.base64), octetOf), 'application/pkix-cert');
    toasts.say(`Saved ${made.fileName} to your downloads.`);
  }

  return [
    { label: 'Copy PEM', icon: 'copy', run: making('pem', copy) },
    { label: 'Download PEM', icon: 'download', run: making('pem', save) },
    { label: 'Download DER', icon: 'download', run: making('der', save) },
  ];
}

const octetOf = (character: string): number => character.charCodeAt(0);

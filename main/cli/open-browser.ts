import { spawn } from 'node:child_process';

/** What opens an address with the program that its user has chosen for it. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens `url` in the default browser, if there is one; nobody is told when there is not, the address is printed anyway. */
export function openInBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const [program, ...args] = OPENERS[platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}

import { spawn } from 'node:child_process';
import { realTime } from '../clock.ts';

const ANSWER_MS_MAX = 3_000;

/**
 * A one-time sign-in link of a running Vivarium, which keeps its token out of process lists. Falls back to the plain
 * address, where the user signs in by hand.
 */
export async function askForSignInLink({ url, token }: { url: string; token: string }): Promise<string> {
  try {
    const response = await fetch(`${url}/sign-in`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const { path } = (await response.json()) as { path?: unknown };
    return typeof path === 'string' ? url + path : url;
  } catch {
    return url;
  }
}

/** Programs that open an address with the user's default application. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** An opener that is still running after this time has found a browser. */
const OPENING_MS_MAX = 2_000;

/**
 * Opens `url` in the default browser. Resolves with whether that seems to have worked: openers fail if there is no
 * browser or no display.
 */
export function openInBrowser(
  url: string,
  { platform, env }: { platform: NodeJS.Platform; env: Readonly<Record<string, string | undefined>> },
): Promise<boolean> {
  const [program, ...args] = OPENERS[platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore', env });
  return new Promise((resolve) => {
    const settle = (opened: boolean) => {
      timer.cancel();
      child.unref();
      resolve(opened);
    };
    const timer = realTime.schedule(OPENING_MS_MAX, () => settle(true));
    child.once('exit', (code) => settle(code === 0));
    child.once('error', () => settle(false));
  });
}

import type { RunningElsewhere } from './start-failure.ts';

/** It is on this machine. */
const ANSWER_MS_MAX = 3_000;

/**
 * A link to the interface of another Vivarium that signs in once, so that its token is in no list of processes; its plain
 * address where it gives none, and then it asks to be signed in.
 */
export async function askForSignInLink({ url, token }: RunningElsewhere): Promise<string> {
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

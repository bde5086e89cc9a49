import { win32 } from 'node:path';
import { VivariumError } from '../../contract/errors.ts';
import { type Command, curlHandshake, type RunCommand } from './run-command.ts';
import type { FoundRoot, StoreReading, TrustStore } from './truststore.ts';
import { ROOT_NAME, sha1Of, type OwnRoots } from './vivarium-roots.ts';

/** The current user's trusted authorities: Edge, Chrome and, by default, Firefox use them. Needs no administrator. */
export function createWindowsStore(options: { environment: NodeJS.ProcessEnv; run: RunCommand }): TrustStore {
  const { environment, run } = options;
  const tool = windowsCertutil(environment);

  async function read(own: OwnRoots): Promise<StoreReading> {
    const listed = await run(windowsListCommand(tool)).catch(asFailure);
    if (listed.exitCode === 0) return { available: true, roots: readWindowsStore(listed.stdout, own) };
    return {
      available: false,
      message: `The user’s trusted authorities cannot be read: ${(listed.stderr + listed.stdout).trim().slice(0, 300)}`,
      needs: `${tool}, which is part of Windows`,
    };
  }

  return {
    id: 'system',
    title: 'Windows, current user: Edge, Chrome, and Firefox by default',
    read,
    trust: ({ file }, superseded) => [
      windowsTrustCommand(tool, file),
      ...superseded.map((root) => windowsUntrustCommand(tool, root)),
    ],
    handshake: (served) =>
      curlHandshake(win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', 'curl.exe'), 'NUL', served),
    handleOf: ({ current }) => sha1Of(current.certificate.raw),
    untrust: (targets) => targets.map((root) => windowsUntrustCommand(tool, root)),
  };
}

/** By its full path: NSS has a program of the same name. */
export const windowsCertutil = (environment: NodeJS.ProcessEnv): string =>
  win32.join(environment.SystemRoot ?? 'C:\\Windows', 'System32', 'certutil.exe');

const windowsListCommand = (tool: string): Command => ({
  command: tool,
  args: ['-user', '-store', 'Root'],
  needsPassword: false,
  explains: 'lists the trusted authorities of the user',
});

/** Windows asks the user to confirm the root in a dialogue. */
const windowsTrustCommand = (tool: string, file: string): Command => ({
  command: tool,
  args: ['-user', '-addstore', 'Root', file],
  needsPassword: false,
  explains: 'adds the root to the user’s trusted authorities',
  asks: true,
});

const windowsUntrustCommand = (tool: string, root: Pick<FoundRoot, 'handle'>): Command => ({
  command: tool,
  args: ['-user', '-delstore', 'Root', root.handle ?? ''],
  needsPassword: false,
  explains: 'removes the root from the user’s trusted authorities',
  asks: true,
});

/** `certutil.exe` separates certificates by `==== Certificate 3 ====`, with the word localised. */
const SEPARATOR = /^={4,}.*={4,}\s*$/m;
/** SHA-1 in certutil.exe's notation: unbroken, before Windows 10 in pairs. Our serial numbers are shorter. */
const SHA1 = /(?<![0-9a-f])(?:[0-9a-f]{40}|[0-9a-f]{2}(?: [0-9a-f]{2}){19})(?![0-9a-f])/gi;

/**
 * The Vivarium roots in the output of `certutil -store`. It is localised and lacks the certificates themselves, so this
 * matches common names and SHA-1, by which Windows identifies certificates.
 */
function readWindowsStore(
  text: string,
  own: Pick<OwnRoots, 'older'> & { current: { certificate: { raw: Uint8Array } } },
): FoundRoot[] {
  const current = sha1Of(own.current.certificate.raw);
  const older = new Set(own.older.map((certificate) => sha1Of(certificate.raw)));
  return text.split(SEPARATOR).flatMap((part) => {
    const name = ROOT_NAME.exec(part)?.[0];
    const handle = [...part.matchAll(SHA1)].at(-1)?.[0].replaceAll(' ', '').toUpperCase();
    if (name === undefined || handle === undefined) return [];
    const identity = handle === current ? 'current' : older.has(handle) ? 'older' : 'other';
    return [{ identity, name, fingerprint: handle.replace(/..(?=.)/g, '$&:'), trusted: true, handle }];
  });
}

function asFailure(error: unknown) {
  if (error instanceof VivariumError) return { exitCode: null, stdout: '', stderr: error.message };
  throw error;
}

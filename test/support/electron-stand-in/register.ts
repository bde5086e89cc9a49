/**
 * Lets a program that imports `electron` run in plain Node on the stand-in, which the script `electron` starts.
 * Electron's own package would download its binary when it is required.
 */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import packageFile from '../../../node_modules/electron/package.json' with { type: 'json' };

const STAND_IN = new URL('./index.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === 'electron') return { url: STAND_IN, shortCircuit: true };
    if (specifier.startsWith('electron/')) throw new Error(`The electron stand-in has no "${specifier}".`);
    return nextResolve(specifier, context);
  },
});

Object.defineProperty(process, 'versions', {
  // As Electron reports BoringSSL.
  value: { ...process.versions, electron: packageFile.version, chrome: 'stand-in', openssl: '0.0.0' },
});

// As `electron FOLDER` sets it, for a program that is not packaged.
Object.defineProperty(process, 'defaultApp', { value: true });

/** For the processes that the program starts as itself. */
process.env['ELECTRON_STAND_IN_NODE'] = process.execPath;
process.argv[0] = join(import.meta.dirname, 'electron');
Object.defineProperty(process, 'execPath', { value: process.argv[0] });

/** The platform that the main process sees. */
const PLATFORM = process.env['ELECTRON_STAND_IN_PLATFORM'];
if (PLATFORM !== undefined) Object.defineProperty(process, 'platform', { value: PLATFORM });

// The engine runs on its own platform only, but with the streams of any.
if ((process.env['ELECTRON_STAND_IN_STREAMS'] ?? PLATFORM) === 'win32') {
  // Electron's, before any JavaScript (shell/app/electron_main_delegate.cc), and its standard input (lib/common/init.ts).
  process.stdout.write('\r\n');
  Object.defineProperty(process, 'stdin', { value: Readable.from([]) });
}

/**
 * Lets a program that imports `electron` run in plain Node on the stand-in: `node --import …/register.ts program.js`.
 * Electron's own package would download its binary when it is required.
 */
import { registerHooks } from 'node:module';
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

/** The platform that the main process sees. */
const PLATFORM = process.env['ELECTRON_STAND_IN_PLATFORM'];
if (PLATFORM !== undefined) Object.defineProperty(process, 'platform', { value: PLATFORM });

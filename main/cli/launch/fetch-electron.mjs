/**
 * `node fetch-electron.mjs <folder of the electron package>`: puts Electron's runtime into the cache of its own
 * downloader, which checks its hash. Prints one line and exits with 1 on failure, within seconds without a network:
 * Electron's own script would wait for the system's timeout.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Until the first byte: name lookup, redirects, a slow connection. */
const FIRST_BYTE_MS_MAX = 8_000;
/** Longest pause between two chunks of a running download. */
const SILENCE_MS_MAX = 20_000;

const folder = process.argv[2] ?? '';
const read = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const { version } = read('package.json');

const abort = new AbortController();
let timer;
const expectWithin = (milliseconds) => {
  clearTimeout(timer);
  timer = setTimeout(() => abort.abort(new Error('no answer')), milliseconds);
};
let shown = -1;
const show = ({ percent }) => {
  expectWithin(SILENCE_MS_MAX);
  const tenth = Math.floor(percent * 10);
  if (tenth === shown) return;
  if (shown < 0) process.stderr.write('Fetching Electron’s runtime, once, about 120 MB: ');
  process.stderr.write(tenth < 10 ? `${tenth * 10} % ` : '100 %\n');
  shown = tenth;
};

try {
  const downloader = createRequire(join(folder, 'package.json')).resolve('@electron/get');
  const { downloadArtifact } = await import(pathToFileURL(downloader).href);
  expectWithin(FIRST_BYTE_MS_MAX);
  await downloadArtifact({
    version,
    artifactName: 'electron',
    platform: process.platform,
    arch: process.arch,
    checksums: read('checksums.json'),
    // As Electron's own script, which looks there next.
    cacheRoot: process.env.electron_config_cache,
    downloadOptions: { quiet: true, signal: abort.signal, getProgressCallback: async (progress) => show(progress) },
  });
} catch (error) {
  const { message } = abort.signal.reason ?? error?.cause ?? error;
  process.stderr.write(`${shown < 0 ? '' : '\n'}Electron’s runtime could not be fetched: ${message}.\n`);
  process.exitCode = 1;
} finally {
  clearTimeout(timer);
}

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Journey, Seen } from '../support/offline-journey.ts';
import { PROGRAM } from '../support/program.ts';
import { findTool } from '../support/tools.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Two browsers, one after the other, on a busy machine. */
const JOURNEY_MS = 600_000;

/** A separate network and separate mounts need namespaces, which containers may refuse. */
const canUnshare = spawnSync('unshare', ['-rmnpf', 'ip', 'link']).status === 0;

/** Reads a value from the documentation page: a reader knows nothing else. */
function read(pattern: RegExp): string {
  const [, found] = pattern.exec(readFileSync(join(ROOT, 'docs/reach-a-hostname.md'), 'utf8')) ?? [];
  if (found === undefined) throw new Error(`docs/reach-a-hostname.md has nothing like ${pattern.source}.`);
  return found;
}

/** Follows the page on a machine without a network, whose resolver knows only the names of another site. */
async function runJourney(journey: Pick<Journey, 'browser' | 'hostnames'>): Promise<Seen> {
  const folder = temporaryFolder();
  const etc = join(folder, 'etc');
  mkdirSync(etc);
  writeFileSync(join(etc, 'resolv.conf'), 'nameserver 127.0.0.53\n');
  writeFileSync(join(etc, 'nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n');
  const steps: Journey = {
    ...journey,
    program: PROGRAM,
    folder,
    dohUrl: read(/^2\. .*\n?.*`(https:\/\/\S+\/dns-query)`/m),
    option: read(/`chromium (--\S+)`/),
  };
  const script = `set -e
ip link set lo up
for name in resolv.conf nsswitch.conf; do mount --bind "$1/$name" "/etc/$name"; done
exec "$2" "$3" "$4"`;
  const program = [process.execPath, join(ROOT, 'test/support/offline-journey.ts'), JSON.stringify(steps)];
  const namespaces = ['-rmnpf', '--mount-proc', '--kill-child', 'sh', '-c', script, 'sh', etc];
  const { stdout } = await promisify(execFile)('unshare', [...namespaces, ...program]);
  return JSON.parse(stdout) as Seen;
}

/** Debian calls its Firefox firefox-esr; not every system has it. */
const BROWSERS = (['firefox', 'chromium'] as const).filter(
  (browser) => browser === 'chromium' || findTool('firefox-esr') !== null,
);

const site = expect.objectContaining({ text: 'a site elsewhere' }) as unknown;

describe.runIf(canUnshare)('real URLs, set up offline by docs/reach-a-hostname.md,', () => {
  it.each(BROWSERS)('open in %s as Debian ships it', { timeout: JOURNEY_MS }, async (browser) => {
    const hostname = read(/`https:\/\/([\w.]+)\/`/);
    const hostnames = [hostname, 'acme.test', 'www.acme.test', 'a.long.name.internal', '*.happypaws.test'];
    const seen = await runJourney({ browser, hostnames });
    expect(seen).toEqual({
      before: [site, null],
      trust: { state: 'trusted', handshake: 'verified' },
      hostnames: hostnames.map((name) => ({
        url: `https://${name.replace('*', 'any')}/`,
        padlock: true,
        issuer: expect.stringMatching(/^Vivarium intermediate /) as unknown,
        text: expect.stringContaining('"not_found"') as unknown,
      })),
      elsewhere: site,
      doctor: browser === 'firefox' ? ['Chromium: warning', 'Firefox: ok'] : [],
      afterwards: site,
    });
  });
});

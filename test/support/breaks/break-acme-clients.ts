import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BreakClient, BreakEntry } from '../../../main/contract/breaks.ts';
import { type Site, serveFiles } from '../acme/acme-site.ts';
import { freePort } from '../ports.ts';

/**
 * ACME clients, and the version numbers of those in Debian 12, whose wording the catalogue quotes: 2.1.0, 4.9.1 and
 * 0.7.0.
 */
const SAYS = { certbot: 'certbot 2.1.0', lego: 'lego version dev', dehydrated: 'version: 0.7.0' } as const;
export type AcmeClient = keyof typeof SAYS & BreakClient;
export const ACME_CLIENTS = Object.keys(SAYS) as AcmeClient[];

interface Asked {
  site: Site;
  /** A separate folder, so that each has its own account. */
  folder: string;
  hostname: string;
}

const COMMANDS: Record<AcmeClient, (asked: Asked) => Promise<string>> = {
  certbot({ site: { run, directory, httpPort, rootFile }, folder, hostname }) {
    const folders = ['config', 'work', 'logs'].flatMap((name) => [`--${name}-dir`, join(folder, name)]);
    const how = ['--standalone', '--http-01-port', String(httpPort), '--agree-tos', '-m', 'anna@acme.test'];
    const args = ['certonly', '--non-interactive', '--server', directory, ...how, ...folders, '-d', hostname];
    return run('certbot', args, { REQUESTS_CA_BUNDLE: rootFile });
  },
  lego({ site: { run, directory, httpPort, rootFile }, folder, hostname }) {
    const how = ['--http', '--http.port', `:${httpPort}`, '--path', folder, '--cert.timeout', '20'];
    const args = ['--server', directory, '-a', '-m', 'anna@acme.test', '-d', hostname, ...how, 'run'];
    return run('lego', args, { LEGO_CA_CERTIFICATES: rootFile });
  },
  async dehydrated({ site, folder, hostname }) {
    const { run, directory, rootFile, engine } = site;
    const port = await freePort();
    await engine.call('settings.update', { acmeHttpPort: port });
    await serveFiles(port, join(folder, 'www'));
    const settings = {
      KEY_ALGO: 'prime256v1',
      ACCOUNT_KEYSIZE: '2048',
      CA: directory,
      CURL_OPTS: `--cacert ${rootFile}`,
      BASEDIR: folder,
      WELLKNOWN: join(folder, 'www'),
    };
    const config = join(folder, 'config');
    writeFileSync(
      config,
      Object.entries(settings)
        .map(([name, value]) => `${name}="${value}"\n`)
        .join(''),
    );
    try {
      const registered = await run('dehydrated', ['-f', config, '--register', '--accept-terms']);
      return registered + (await run('dehydrated', ['-f', config, '-c', '-d', hostname]));
    } finally {
      await engine.call('settings.update', { acmeHttpPort: site.httpPort });
    }
  },
};

export async function isInstalled({ run }: Pick<Site, 'run'>, client: AcmeClient): Promise<boolean> {
  const said = await run(client, ['--version']).catch(() => '');
  return said.includes(SAYS[client]);
}

const OBTAINS = 'obtains the certificate';

/** The relevant part of a client's output. */
function wordsOf(client: AcmeClient, output: string): string {
  switch (client) {
    case 'certbot': {
      const [, type] = /^ +Type: +(\w+)$/m.exec(output) ?? [];
      if (type !== undefined) return `Type: ${type}`;
      const [, error] = /An unexpected error occurred:\n(.*)|(Unable to register .*)/.exec(output) ?? [];
      return error ?? /^Unable to register .*$/m.exec(output)?.[0] ?? output;
    }
    case 'lego': {
      const [, status, type] = /acme: error: (\d+) :: .*?(urn:[\w:]+)/.exec(output) ?? [];
      if (status !== undefined) return `acme: error: ${status} :: ${type}`;
      return (
        output
          .trimEnd()
          .split('\n')
          .at(-1)
          ?.replace(/^(?:[\d/]+ [\d:]+|\[\S+\]) /, '') ?? output
      );
    }
    case 'dehydrated': {
      const [eab] = /^ *This CA requires .*$/m.exec(output) ?? [];
      if (eab !== undefined) return eab.trim();
      const [status] = /Status \d{3}/.exec(output) ?? [];
      const [type] = /urn:ietf:params:acme:error:\w+/.exec(output) ?? [];
      return [status, type].filter((part) => part !== undefined).join(', ') || output;
    }
  }
}

/** What a client reports while an entry is broken, for two minutes at most. */
export async function outputOf(site: Site, client: AcmeClient, { id, selectors }: BreakEntry): Promise<string> {
  const { engine } = site;
  const hostname = `${id.slice(id.indexOf('.') + 1)}.acme.test`;
  const folder = join(site.folder, client, id);
  mkdirSync(folder, { recursive: true });
  const on = selectors.includes('hostname') ? { hostname } : {};
  const { id: breakId } = await engine.call('breaks.start', { entry: id, on, seed: 1, for: 'PT2M' });
  try {
    await COMMANDS[client]({ site, folder, hostname });
    return OBTAINS;
  } catch (error) {
    return wordsOf(client, (error as Error).message);
  } finally {
    const running = await engine.call('breaks.list');
    if (running.some(({ id: each }) => each === breakId)) await engine.call('breaks.stop', { id: breakId });
  }
}

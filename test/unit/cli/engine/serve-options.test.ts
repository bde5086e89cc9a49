import { describe, expect, it } from 'vitest';
import { readServeConfig, SERVE_FLAGS, variableOf } from '../../../../main/cli/engine/serve-options.ts';
import type { ServeConfig } from '../../../../main/cli/engine/serve-options.ts';

const DEFAULTS: ServeConfig = {
  dataDir: '/home/ada/.local/share/vivarium',
  ...{ httpPort: 8080, httpsPort: 8443, dnsPort: 5380, controlPort: 4780 },
  ...{ ephemeral: false, empty: false, open: false },
};

/** The configuration of a line of arguments. */
const read = (line: string, env: Record<string, string> = {}) =>
  readServeConfig(line === '' ? [] : line.split(' '), {
    ...{ platform: 'linux', env, homeDir: '/home/ada', workingDir: '/projects' },
  });
const HOST_TAKES = 'must be 0\\.0\\.0\\.0 inside a container, or 127\\.0\\.0\\.1, the default, not';

describe('the options of serve', () => {
  it.each<[string, Record<string, string>, Partial<ServeConfig>]>([
    ['', {}, {}],
    ['--data-dir /d', {}, { dataDir: '/d' }],
    ['--data-dir d', {}, { dataDir: '/projects/d' }],
    ['--http-port 9080', {}, { httpPort: 9080 }],
    ['--port 3000', {}, { httpPort: 3000 }],
    ['--https-port=0', {}, { httpsPort: 0 }],
    ['--dns-port 65535', {}, { dnsPort: 65535 }],
    ['--control-port 1', {}, { controlPort: 1 }],
    ['--http-port 1 --http-port 2', {}, { httpPort: 2 }],
    ['--host 0.0.0.0', {}, { host: '0.0.0.0' }],
    ['--host 127.0.0.1', { VIVARIUM_HOST: '0.0.0.0' }, {}],
    ['', { VIVARIUM_HOST: '0.0.0.0' }, { host: '0.0.0.0' }],
    ['', { VIVARIUM_HOST: '' }, {}],
    ['--empty', {}, { empty: true }],
    ['--open', {}, { open: true }],
    ['--any-ports --http-port 8081', {}, { httpPort: 8081, httpsPort: 0, dnsPort: 0, controlPort: 0 }],
    ['--ephemeral', {}, { ephemeral: true, dataDir: null }],
    ['--ephemeral --data-dir /d', {}, { ephemeral: true, dataDir: '/d' }],
    ['', { VIVARIUM_DATA_DIR: '/e' }, { dataDir: '/e' }],
    ['--data-dir /d', { VIVARIUM_DATA_DIR: '/e' }, { dataDir: '/d' }],
    ['', { VIVARIUM_HTTP_PORT: '9080', VIVARIUM_DNS_PORT: '0' }, { httpPort: 9080, dnsPort: 0 }],
    ['--http-port 1', { VIVARIUM_HTTP_PORT: 'bad' }, { httpPort: 1 }],
    ['', { VIVARIUM_HTTP_PORT: '' }, {}],
    ['', { VIVARIUM_EPHEMERAL: '1' }, { ephemeral: true, dataDir: null }],
    ['--no-ephemeral', { VIVARIUM_EPHEMERAL: '1' }, {}],
    ['', { VIVARIUM_EMPTY: 'TRUE' }, { empty: true }],
    ['', { VIVARIUM_EMPTY: '0', VIVARIUM_EPHEMERAL: '' }, {}],
    ['--http-port 0 --https-port 0', {}, { httpPort: 0, httpsPort: 0 }],
  ])('“%s” with %j is read', (line, env, expected) => {
    expect(read(line, env)).toEqual({ ...DEFAULTS, ...expected });
  });

  it.each<[string, RegExp, Record<string, string>?]>([
    ['--http-prot 1', /^There is no option --http-prot\. Did you mean "--http-port"/],
    ['--http-port', /^--http-port needs a value\.$/],
    ['--port', /^--port needs a value\.$/],
    ['--http-port 65536', /^--http-port must be a port from 1 to 65535, or 0 for any free one, not "65536"\.$/],
    ['--host 192.168.1.4', new RegExp(`^--host ${HOST_TAKES} `)],
    ['', /^VIVARIUM_HOST must be 0\.0\.0\.0 /, { VIVARIUM_HOST: 'localhost' }],
    ['--host 0.0.0.0 --lan', /^--host and --lan exclude each other/],
    ['--host ', /^--host needs a value\.$/],
    ['--http-port -1', /not "-1"\.$/],
    ['--http-port 80a', /not "80a"\.$/],
    ['--http-port 1e3', /not "1e3"\.$/],
    ['--http-port=', /^--http-port needs a value\.$/],
    ['http-port 80', /^start takes options only, not "http-port"\. Did you mean --http-port/],
    ['8080', /^start takes options only, not "8080"\.$/],
    ['--data-dir=', /^--data-dir needs a value\.$/],
    ['--http-port 8443', /^--http-port and --https-port are both 8443; each needs its own port\.$/],
    ['--control-port 5380', /^--dns-port and --control-port are both 5380/],
    ['--ephemeral=maybe', /^--ephemeral takes no value but true and false, not "maybe"\.$/],
    ['', /^VIVARIUM_HTTP_PORT must be a port .* not "x"\.$/, { VIVARIUM_HTTP_PORT: 'x' }],
    ['', /^VIVARIUM_EMPTY must be 1 or 0, not "maybe"\.$/, { VIVARIUM_EMPTY: 'maybe' }],
  ])('“%s” is refused with one sentence: %s', (line, message, env) => {
    expect(() => read(line, env)).toThrow(message);
  });

  it.each<[string, Record<string, string>, string | undefined]>([
    ['', {}, undefined],
    ['--lan', {}, ''],
    ['--lan --empty', {}, ''],
    ['--lan=en0', { VIVARIUM_LAN: 'en1' }, 'en0'],
    ['', { VIVARIUM_LAN: '1' }, ''],
    ['', { VIVARIUM_LAN: 'off' }, undefined],
    ['', { VIVARIUM_LAN: '192.168.1.5' }, '192.168.1.5'],
  ])('“%s” with %j serves other devices on %j', (line, env, lan) => {
    expect(read(line, env).lan).toBe(lan);
  });

  it('each have an environment variable', () => {
    const names = SERVE_FLAGS.map(({ name }) => name).filter((name) => name !== 'help');
    const variables = 'DATA_DIR HTTP_PORT HTTPS_PORT DNS_PORT CONTROL_PORT LAN HOST ANY_PORTS EPHEMERAL EMPTY OPEN';
    expect(names.map(variableOf)).toEqual(variables.split(' ').map((name) => `VIVARIUM_${name}`));
  });
});

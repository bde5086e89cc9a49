import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };
import { DEFAULT_PORTS } from '../../main/base/config.ts';
import { readServeConfig } from '../../main/cli/engine/serve-options.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'container', name), 'utf8');
const containerfile = read('Containerfile');
const compose = read('compose.yaml');

interface Compose {
  services: Record<string, { volumes?: string[]; entrypoint?: string[]; environment?: Record<string, string> }>;
}

const instruction = (name: string): string =>
  [...containerfile.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].map(([, words = '']) => words).join(' ');

const { httpPort, httpsPort, dnsPort, controlPort } = DEFAULT_PORTS;
const PUBLISHED = [String(controlPort), String(httpPort), String(httpsPort), `${dnsPort}/tcp`, `${dnsPort}/udp`];

describe('the image', () => {
  it('serves the usual ports on every address, from a folder of an unprivileged user', () => {
    const env = Object.fromEntries(
      instruction('ENV')
        .split(' ')
        .map((pair) => pair.split('=')),
    ) as Record<string, string>;
    const config = readServeConfig([], { platform: 'linux', env, homeDir: env['HOME'] ?? '', workingDir: '/' });
    expect(config).toMatchObject({ ...DEFAULT_PORTS, host: '0.0.0.0', dataDir: instruction('VOLUME') });
    expect(instruction('EXPOSE').split(' ').toSorted()).toEqual(PUBLISHED.toSorted());
    expect(instruction('USER')).toBe('1000:1000');
  });

  it('is built from the tarball and a Node that runs it', () => {
    expect(containerfile).toContain(`COPY ${packageFile.name}-*.tgz `);
    expect(instruction('ARG')).toMatch(/:24-/);
  });

  it('is published by the example on loopback only, under the same numbers, with no more rights than needed', () => {
    const published = [...compose.matchAll(/^ {6}- (127\.0\.0\.1):(\d+):(\d+)(\/\w+)?$/gm)];
    expect(published.map(([, , outside, inside, transport = '']) => [outside, `${inside}${transport}`])).toEqual(
      PUBLISHED.map((port) => [port.replace(/\/.*/, ''), port]),
    );
    expect(compose).toMatch(/^ {4}read_only: true$/m);
    expect(compose).toMatch(/^ {4}cap_drop: \[ALL\]$/m);
  });

  it('gives an app the root’s certificate only, never the folder with the root’s key and the token', () => {
    const { vivarium, certificate, ...apps } = (parse(compose) as Compose).services;
    expect(Object.keys(apps)).toEqual(['app']);
    const file = String(apps['app']?.environment?.['NODE_EXTRA_CA_CERTS']);
    for (const { volumes } of Object.values(apps)) expect(volumes).toEqual([`certificate:${dirname(file)}:ro`]);
    expect(certificate?.entrypoint).toEqual(['install', '--mode=644', '/data/ca/root.pem', file]);
    expect(certificate?.volumes).toEqual(['data:/data:ro', `certificate:${dirname(file)}`]);
    expect(vivarium?.volumes).toEqual(['data:/data']);
    expect(containerfile).toMatch(new RegExp(`install --directory --owner=1000 --group=1000 ${dirname(file)}$`, 'm'));
  });
});

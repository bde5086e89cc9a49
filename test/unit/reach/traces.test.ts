import { describe, expect, it } from 'vitest';
import { makeSnippets } from '../../../main/reach/snippets.ts';
import { findTraces, type TraceFacts } from '../../../main/reach/traces.ts';

const CA_FILE = '/home/anna/.local/share/vivarium/ca/root.pem';

function traces(files: Record<string, string>, changes: Partial<TraceFacts> = {}) {
  return findTraces({
    platform: 'linux',
    home: '/home/anna',
    environment: {},
    caFile: CA_FILE,
    readText: (path) => files[path] ?? null,
    ...changes,
  });
}
const found = (...parameters: Parameters<typeof traces>) =>
  traces(...parameters).flatMap(({ found: isFound, title, undo }) => (isFound ? [[title, undo]] : []));

describe('the traces of the instructions', () => {
  it('are empty on an unchanged machine, and undetectable ones are not reported as present', () => {
    expect(found({})).toEqual([]);
    expect(traces({}).length).toBeGreaterThan(2);
  });

  it('include the start at login, if the system shows it', () => {
    const entry = '/home/anna/.config/autostart/localhost.vivarium.app.desktop';
    expect(found({ [entry]: '[Desktop Entry]' })).toEqual([
      [`“Start at Login” of the app (${entry})`, `rm -- ${entry}`],
    ]);
    const moved = { environment: { XDG_CONFIG_HOME: '/etc/anna' } };
    expect(found({ [entry]: '' }, moved)).toEqual([]);
    expect(found({ [entry]: '' }, { environment: { XDG_CONFIG_HOME: 'not/absolute' } })).toHaveLength(1);
    for (const platform of ['darwin', 'win32'] as const)
      expect(traces({}, { platform }).map(({ title }) => title)).toContain('“Start at Login” of the app');
  });

  it('include variables of this shell and files of the user that name this root', () => {
    const environment = { NODE_EXTRA_CA_CERTS: CA_FILE, SSL_CERT_FILE: '/etc/other.pem' };
    const files = { '/home/anna/.curlrc': `cacert = "${CA_FILE}"`, '/home/anna/.npmrc': 'cafile=/etc/other.pem' };
    expect(found(files, { environment })).toEqual([
      ['This shell names the root in NODE_EXTRA_CA_CERTS', 'unset NODE_EXTRA_CA_CERTS'],
      ['/home/anna/.curlrc names the root', `# Remove ${CA_FILE} from /home/anna/.curlrc`],
    ]);
  });

  it('include the completion of a shell, and the command itself', () => {
    const line = 'source <(vivarium completion bash)';
    const fish = '/home/anna/.config/fish/completions/vivarium.fish';
    const files = { '/home/anna/.bashrc': `alias ll='ls -l'\n${line}\n`, [fish]: 'complete -c vivarium' };
    expect(found(files)).toEqual([
      ['/home/anna/.bashrc completes commands of Vivarium', `# Remove ${line} from /home/anna/.bashrc`],
      [`${fish} completes commands of Vivarium`, `rm -- ${fish}`],
    ]);
    expect(traces({}).map(({ undo }) => undo)).toContain('npm rm -g vivarium');
  });

  it('of the environment snippet are all of its variables, in the shell’s syntax', () => {
    const address = { hostname: 'acme.test', scheme: 'https', leadsTo: 'api' } as const;
    const facts = { address, ports: { http: 8080, https: 8443, dns: 5380 }, proxyUrl: 'http://127.0.0.1:8080' };
    const snippets = makeSnippets({
      ...facts,
      caFile: CA_FILE,
      pacUrl: 'http://127.0.0.1:4780/proxy.pac',
      dohUrl: 'https://localhost:8443/dns-query',
    });
    const text = snippets.find(({ id }) => id === 'environment')?.text ?? '';
    const set = text
      .trim()
      .split('\n')
      .map((line) => /^export (\w+)=/.exec(line)?.[1]);
    const undo = (changes: Partial<TraceFacts>) =>
      traces({}, changes).find(({ title }) => title.includes('environment snippet'))?.undo;
    expect(undo({})).toBe(`unset ${set.join(' ')}`);
    expect(undo({ environment: { SHELL: '/usr/bin/fish' } })).toBe(`set -e ${set.join(' ')}`);
    const names = undo({ platform: 'win32' })?.split('\n');
    expect(names).toEqual([...new Set(set.map((name) => `Remove-Item Env:${name?.toUpperCase()}`))]);
    expect(names).toContain('Remove-Item Env:NODE_USE_ENV_PROXY');
  });
});

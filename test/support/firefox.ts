import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** What the address bar shows for the current page. */
export interface Shown {
  url: string;
  text: string;
  /** The padlock: a verified certificate. */
  padlock: boolean;
  /** The issuer of the certificate; empty without one. */
  issuer: string;
}

/** A Firefox as installed, driven through Marionette (firefox-source-docs.mozilla.org/testing/marionette). */
export interface Firefox {
  /** What a page shows; null if it is an error page, even after this many reloads. */
  open(url: string, reloads?: number): Promise<Shown | null>;
  /** The codes of the errors with which requests fail, all at once; null for an answered one. */
  faultsOf(urls: readonly string[]): Promise<(string | null)[]>;
  /**
   * Sets DNS over HTTPS as *Settings, DNS over HTTPS, Increased Protection, Custom* does; resolves once Firefox has
   * found that the server answers, which its settings show as *Active*.
   */
  useDoh(url: string): Promise<void>;
  quit(): Promise<void>;
}

/** The profile of a home folder that Firefox would use by itself; created if it does not exist. */
export function firefoxProfile(home: string): string {
  const folder = join(home, '.mozilla/firefox');
  const profile = join(folder, 'test.default-esr');
  mkdirSync(profile, { recursive: true });
  const section = '[Profile0]\nName=default-esr\nIsRelative=1\nPath=test.default-esr\nDefault=1\n';
  writeFileSync(join(folder, 'profiles.ini'), `[General]\nStartWithLastProfile=1\n\n${section}`);
  // A free port, which it prints, and none of the preferences of a remote control: DNS over HTTPS is among them.
  const preferences = {
    'marionette.port': 0,
    'browser.dom.window.dump.enabled': true,
    'remote.prefs.recommended': false,
  };
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${value});\n`);
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  return profile;
}

export async function startFirefox(home: string): Promise<Firefox> {
  const args = ['--headless', '--no-remote', '--marionette', '--remote-allow-system-access'];
  const { XDG_CONFIG_HOME: _config, XDG_DATA_HOME: _data, ...environment } = process.env;
  const child = spawn('firefox-esr', [...args, '--profile', firefoxProfile(home), 'about:blank'], {
    env: { ...environment, HOME: home, TMPDIR: home, MOZ_CRASHREPORTER_DISABLE: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const send = speak(await dial(child));
  /**
   * Runs a script in the page, or with the browser's own rights; `args` are its arguments, followed by the callback
   * that ends it.
   */
  const script = async (context: 'content' | 'chrome', text: string, ...args: unknown[]): Promise<unknown> => {
    await send('Marionette:SetContext', { value: context });
    const { value } = await send('WebDriver:ExecuteAsyncScript', { script: text, args });
    await send('Marionette:SetContext', { value: 'content' });
    return value;
  };
  const untilActive = () =>
    script(
      'chrome',
      `const look = () => Services.dns.currentTrrConfirmationState === Ci.nsIDNSService.CONFIRM_OK
        ? arguments[0]() : window.setTimeout(look, 20);
      look();`,
    );
  const shows = (url: string) =>
    send('WebDriver:Navigate', { url }).then(
      () => true,
      () => false,
    );
  await send('WebDriver:NewSession', {});
  return {
    async open(url, reloads = 0) {
      for (let left = reloads; !(await shows(url)); left--) {
        if (left === 0) return null;
        await untilActive();
      }
      const text = await script('content', 'arguments[0](document.documentElement.textContent)');
      const shown = await script(
        'chrome',
        `const { secInfo } = gBrowser.securityUI;
        arguments[0]({ url: gBrowser.currentURI.spec, issuer: secInfo?.serverCert?.issuerCommonName ?? '',
          padlock: document.getElementById('identity-box').classList.contains('verifiedDomain') });`,
      );
      return { ...(shown as Omit<Shown, 'text'>), text: String(text) };
    },
    async faultsOf(urls) {
      const faults = await script(
        'chrome',
        `const [urls, done] = arguments;
        Promise.all(urls.map((url) => new Promise((resolve) => {
          const request = new XMLHttpRequest();
          request.onload = () => resolve(null);
          request.onerror = () =>
            resolve(request.channel.securityInfo?.errorCodeString || request.channel.status.toString(16));
          request.open('GET', url);
          request.send();
        }))).then(done);`,
        urls,
      );
      return faults as (string | null)[];
    },
    async useDoh(url) {
      await script(
        'chrome',
        `Services.prefs.setStringPref('network.trr.custom_uri', arguments[0]);
        Services.prefs.setStringPref('network.trr.uri', arguments[0]);
        Services.prefs.setIntPref('network.trr.mode', 2);
        Services.prefs.savePrefFile(null);
        arguments[1]();`,
        url,
      );
      await untilActive();
    },
    async quit() {
      await send('Marionette:Quit', { flags: ['eForceQuit'] });
      await ended;
    },
  };
}

type Send = (command: string, parameters: object) => Promise<Record<string, unknown>>;

/** Marionette's messages are a length, a colon and JSON: `[0, id, command, parameters]`, `[1, id, error, result]`. */
function speak(socket: Socket): Send {
  const waiting = new Map<number, (error: unknown, result: Record<string, unknown>) => void>();
  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const colon = received.indexOf(':');
      const end = colon + 1 + Number(received.subarray(0, colon).toString());
      if (colon < 0 || received.length < end) return;
      const message: unknown = JSON.parse(received.subarray(colon + 1, end).toString());
      received = received.subarray(end);
      if (!Array.isArray(message)) continue;
      const [, id, error, result] = message as [number, number, unknown, Record<string, unknown>];
      waiting.get(id)?.(error, result);
      waiting.delete(id);
    }
  });
  let sent = 0;
  return (command, parameters) =>
    new Promise((resolve, reject) => {
      const id = ++sent;
      waiting.set(id, (error, result) => {
        if (error === null) resolve(result);
        else reject(new Error(`${command}: ${JSON.stringify(error)}`));
      });
      const message = JSON.stringify([0, id, command, parameters]);
      socket.write(`${Buffer.byteLength(message)}:${message}`);
    });
}

/** Connects to the port that Firefox prints. */
async function dial({ stdout }: { stdout: Readable }): Promise<Socket> {
  for await (const line of createInterface({ input: stdout })) {
    const [, port] = /Marionette\s+INFO\s+Listening on port (\d+)/.exec(line) ?? [];
    if (port === undefined) continue;
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    stdout.resume();
    return socket;
  }
  throw new Error('Firefox ended before it could be driven.');
}

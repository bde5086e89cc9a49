import { describe, expect, it } from 'vitest';
import { isOwnPage, externalAddress, isDownloadable, isLoadable, isPermitted } from '../../../main/electron/rules.ts';

/** The inspected part of a frame. */
const frame = (url: string, origin: string, parent: Parameters<typeof isOwnPage>[0] = null) =>
  ({ url, origin, parent }) as Parameters<typeof isOwnPage>[0];

const page = frame('app://vivarium/pets', 'app://vivarium');

describe('the frame that may pass a port on', () => {
  it('is the page in the window’s main frame', () => {
    expect(isOwnPage(page)).toBe(true);
  });

  it.each<[who: string, frame: Parameters<typeof isOwnPage>[0]]>([
    ['a closed frame', null],
    ['a frame inside the page', frame('app://vivarium/', 'app://vivarium', page)],
    ['another host of the scheme', frame('app://other/', 'app://other')],
    ['a page from the network', frame('https://example.org/', 'https://example.org')],
    ['a file', frame('file:///tmp/index.html', 'file://')],
    ['a sandboxed document with the page’s address', frame('app://vivarium/', 'null')],
    ['a blank document', frame('about:blank', 'app://vivarium')],
    ['a blob', frame('blob:app://vivarium/1', 'app://vivarium')],
  ])('is not %s', (_who, other) => {
    expect(isOwnPage(other)).toBe(false);
  });
});

describe('the permission of a page', () => {
  const own = { url: 'app://vivarium/', isMainFrame: true };

  it('is to write text to the clipboard', () => {
    expect(isPermitted('clipboard-sanitized-write', own)).toBe(true);
  });

  it.each(
    [
      'clipboard-read geolocation media notifications midi openExternal display-capture usb fileSystem',
      'local-network-access unknown',
    ].flatMap((names) => names.split(' ')),
  )('does not include %s', (permission) => {
    expect(isPermitted(permission, own)).toBe(false);
  });

  it.each([
    ['https://example.org/', true],
    ['app://vivarium/', false],
    [undefined, true],
  ])('includes nothing when %s asks (main frame: %s)', (url, isMainFrame) => {
    expect(isPermitted('clipboard-sanitized-write', { url, isMainFrame })).toBe(false);
  });
});

describe('a URL for the window', () => {
  it.each(['app://vivarium/assets/x.js', 'blob:app://vivarium/1', 'data:image/png;base64,', 'devtools://devtools/x'])(
    'is loaded: %s',
    (url) => expect(isLoadable(url)).toBe(true),
  );

  it.each('http://127.0.0.1:4780/ https://example.org/ ws://127.0.0.1/ file:///etc/passwd ftp://x/ ::'.split(' '))(
    'is not loaded: %s',
    (url) => expect(isLoadable(url)).toBe(false),
  );

  it('is saved only if the page has made it itself', () => {
    expect(isDownloadable('blob:app://vivarium/0c6f')).toBe(true);
    for (const url of ['blob:https://example.org/1', 'https://example.org/x.exe', 'app://vivarium/x', 'data:,x']) {
      expect(isDownloadable(url)).toBe(false);
    }
  });
});

describe('an address for the system’s browser', () => {
  const OWN_PORTS = [8080, 8443];

  it.each([
    ['https://www.rfc-editor.org/rfc/rfc8659#section-3'],
    ['http://127.0.0.1:4780/#token=abc'],
    ['http://demo.vivarium.localhost:8080/v1'],
    ['http://shop.acme.test:8080/'],
    ['HTTPS://EXAMPLE.org', 'https://example.org/'],
  ])('is accepted: %s', (url, address = url) => {
    expect(externalAddress(url, OWN_PORTS)).toBe(address);
  });

  it.each([
    ...'http://example.org/ http://example.org:81/ https://user@example.org/ https://user:secret@example.org/'.split(
      ' ',
    ),
    ...'file:///etc/passwd javascript:alert(1) smb://example.org/share ms-settings:privacy'.split(' '),
    ...['mailto:somebody@example.org', 'app://vivarium/', 'not an address', `https://example.org/${'x'.repeat(2_048)}`],
  ])('is refused: %s', (url) => {
    expect(externalAddress(url, OWN_PORTS)).toBeNull();
  });
});

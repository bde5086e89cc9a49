import '@fontsource-variable/jetbrains-mono/wght.css';
import '@fontsource-variable/source-sans-3/wght.css';
// Before the components, whose rules override it.
import './styles/tokens.css';
import './styles/base.css';
import './styles/shapes.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { Commands } from '../shared/navigation/commands.svelte.ts';
import { CONNECT_MESSAGE, createMessagePortTransport } from '../connection/message-port.ts';
import { createNeighbours } from '../connection/neighbours.ts';
import type { Transport } from '../connection/transport.ts';
import { redeemTicket } from '../connection/sign-in-link.ts';
import { createWebSocketTransport } from '../connection/web-socket.ts';
import type { PageContext } from '../shared/session/context.ts';
import { keepFocus } from '../shared/navigation/focus-keeper.ts';
import { type AddressBar, Navigator } from '../shared/navigation/navigator.svelte.ts';
import { Announcer } from '../shared/session/announcer.svelte.ts';
import { KeptValues } from '../shared/session/storage.ts';
import { SignIn } from './sign-in.svelte.ts';
import { Connecting } from '../shared/reach/connecting.svelte.ts';
import { Preferences } from '../shared/session/preferences.svelte.ts';
import { Session } from '../shared/session/session.svelte.ts';
import { openStorage } from '../shared/session/storage.ts';
import { Toasts } from '../shared/session/toasts.svelte.ts';
import { browserTime } from '../shared/time/real-time.ts';

const browserAddress: AddressBar = {
  read: () => ({ path: window.location.pathname, search: window.location.search }),
  push: (address) => window.history.pushState(null, '', address),
  replace: (address) => window.history.replaceState(null, '', address),
  onMoved: (listener) => window.addEventListener('popstate', listener),
};

/**
 * Routes plain links of the page through `go`, so every place is an `<a href>` that can be opened in a new tab, copied
 * and reached by keyboard. `go` returns whether the address belongs to the interface.
 */
function followLinks(document: Document, go: (path: string, search: string) => boolean): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href, document.baseURI);
    if (url.origin !== window.location.origin || link.getAttribute('href')?.startsWith('#') === true) return;
    if (go(url.pathname, url.search)) event.preventDefault();
  });
}

const time = browserTime;
const { origin } = window.location;
const ofTab = openStorage(() => window.sessionStorage);
const drafts = new KeptValues(ofTab, 'vivarium.draft.');
const remembered = openStorage(() => window.localStorage);

const preferences = new Preferences(remembered, (theme) => {
  document.documentElement.dataset['theme'] = theme;
});
const navigator = new Navigator(browserAddress);
const context: PageContext = {
  announcer: new Announcer(time),
  commands: new Commands({
    time,
    isMac: /Mac|iPhone|iPad/.test(window.navigator.userAgent),
    singleKeys: () => preferences.singleKeys,
  }),
  connecting: new Connecting(),
  drafts,
  navigator,
  preferences,
  time,
  toasts: new Toasts(time),
};
function openSession(transport: Transport): Session {
  // Of a session before this one in the tab.
  context.announcer.say('');
  context.connecting.close();
  context.toasts.clear();
  return new Session({ transport, time, storage: remembered, drafts, named: () => navigator.place?.project });
}
const signIn = new SignIn({
  origin,
  storage: ofTab,
  openSession: (token) => openSession(createWebSocketTransport({ origin, token, time })),
  askNeighbours: () => neighbours.ask(),
  redeem: (ticket) => redeemTicket(origin, ticket),
  navigate: (href) => window.location.assign(href),
});

const neighbours = createNeighbours({ channel: new BroadcastChannel('vivarium'), time, token: () => signIn.token });

/**
 * Keeps credentials out of the address bar and of copied links. They are already in the browser's history, which is why
 * Vivarium's own links contain a ticket that is worthless after its use.
 */
function enter(): void {
  if (signIn.enter(window.location.hash)) {
    window.history.replaceState(null, '', window.location.pathname + window.location.search);
  }
}

keepFocus(document);
followLinks(document, (path, search) => navigator.goTo(path, search));
if (window.vivariumDesktop === true) {
  const transferPort = (port: MessagePort) => window.postMessage(CONNECT_MESSAGE, window.origin, [port]);
  signIn.admit(openSession(createMessagePortTransport({ transferPort })));
} else {
  enter();
  window.addEventListener('hashchange', enter);
}

const target = document.getElementById('app');
if (target === null) throw new Error('index.html has no element with the id "app".');
mount(App, { target, props: { signIn, context } });

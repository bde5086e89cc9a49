import '@fontsource-variable/jetbrains-mono/wght.css';
import '@fontsource-variable/source-sans-3/wght.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { CONNECT_MESSAGE, createMessagePortTransport } from './connection/message-port.ts';
import type { Transport } from './connection/transport.ts';
import { createWebSocketTransport } from './connection/web-socket.ts';
import { Announcer } from './state/announcer.svelte.ts';
import { Entrance } from './state/entrance.svelte.ts';
import { Session } from './state/session.svelte.ts';
import { openStorage } from './state/storage.ts';
import { Theme } from './state/theme.svelte.ts';
import { browserTime } from './time/real-time.ts';
import './styles/tokens.css';
import './styles/base.css';

const time = browserTime;
const { origin } = window.location;
const remembered = openStorage(() => window.localStorage);

const theme = new Theme(remembered, (choice) => {
  document.documentElement.dataset['theme'] = choice;
});
const openSession = (transport: Transport) => new Session({ transport, time, storage: remembered });
const entrance = new Entrance({
  origin,
  storage: openStorage(() => window.sessionStorage),
  openSession: (token) => openSession(createWebSocketTransport({ origin, token, time })),
  navigate: (href) => window.location.assign(href),
});

/** The token is a secret: it does not stay in the address bar, the history, or a copied link. */
function enter(): void {
  if (entrance.enter(window.location.hash)) {
    window.history.replaceState(null, '', window.location.pathname + window.location.search);
  }
}

if (window.vivariumDesktop === true) {
  const handOver = (port: MessagePort) => window.postMessage(CONNECT_MESSAGE, window.origin, [port]);
  entrance.admit(openSession(createMessagePortTransport({ handOver })));
} else {
  enter();
  window.addEventListener('hashchange', enter);
}

const target = document.getElementById('app');
if (target === null) throw new Error('index.html has no element with the id "app".');
mount(App, { target, props: { entrance, theme, announcer: new Announcer(time), time } });

import type { Protocol, ProxyConfig, Session, WebRequest } from 'electron';
import type { Request as PageRequest, Route } from 'playwright-core';
import { fromChromium, privilegedSchemes } from './addresses.ts';
import { ownApp, requireReady } from './app.ts';
import { fault } from './driver.ts';
import { answerOverNetwork, type Network, type VerifyProc } from './proxied-request.ts';
import { createEvent, refuseUnknown, StrictEmitter, strictly, type Typed } from './strict.ts';

type SchemeHandler = Parameters<Protocol['handle']>[1];
type RequestListener = Exclude<Parameters<WebRequest['onBeforeRequest']>[0], null | { urls?: string[] }>;

const handlers = new Map<string, SchemeHandler>();

export const protocol = strictly('protocol', {
  registerSchemesAsPrivileged(schemes) {
    if (ownApp.isReady()) throw new Error('Schemes can only be registered before the app is ready.');
    if (privilegedSchemes.size > 0) throw new Error('Schemes can only be registered once.');
    for (const { scheme, privileges = {} } of schemes) {
      refuseUnknown('privileges', privileges, ['standard', 'secure', 'supportFetchAPI', 'codeCache']);
      if (privileges.standard !== true || privileges.secure !== true) {
        fault('carries out schemes that are standard and secure only.');
      }
      privilegedSchemes.add(scheme);
    }
  },
  handle(scheme, handler) {
    requireReady('protocol.handle');
    if (!privilegedSchemes.has(scheme)) fault(`handles privileged schemes only, not "${scheme}".`);
    if (handlers.has(scheme)) throw new Error(`The protocol "${scheme}" is handled already.`);
    handlers.set(scheme, handler);
  },
  isProtocolHandled: (scheme) => handlers.has(scheme),
} satisfies Partial<Protocol>);

/** Permission handlers of a session. Without one, Electron permits. */
interface PermissionHandlers {
  request: Parameters<Session['setPermissionRequestHandler']>[0];
  check: Parameters<Session['setPermissionCheckHandler']>[0];
  device: Parameters<Session['setDevicePermissionHandler']>[0];
  display: Parameters<Session['setDisplayMediaRequestHandler']>[0];
}

export class StandInSession extends StrictEmitter implements Typed<Session, StandInSession> {
  readonly facade = strictly('session', this);
  readonly permissionHandlers: PermissionHandlers = { request: null, check: null, device: null, display: null };
  /** The only way to the network; without it there is none. */
  network: Network | null = null;
  beforeRequest: RequestListener | null = null;
  readonly protocol = protocol as Protocol;
  readonly webRequest = strictly('session.webRequest', {
    onBeforeRequest: (...given: [RequestListener | null] | [unknown, RequestListener | null]) => {
      if (given.length > 1) fault('carries out webRequest.onBeforeRequest without a filter only.');
      this.beforeRequest = given[0] as RequestListener | null;
    },
  }) as unknown as Session['webRequest'];
  #proxy: string | null = null;
  #verify: VerifyProc | null = null;
  #spellChecks = true;

  constructor() {
    super('session', ['will-download']);
  }

  setPermissionRequestHandler(handler: Parameters<Session['setPermissionRequestHandler']>[0]): void {
    this.permissionHandlers.request = handler;
  }

  setPermissionCheckHandler(handler: Parameters<Session['setPermissionCheckHandler']>[0]): void {
    this.permissionHandlers.check = handler;
  }

  setDevicePermissionHandler(handler: Parameters<Session['setDevicePermissionHandler']>[0]): void {
    this.permissionHandlers.device = handler;
  }

  setDisplayMediaRequestHandler(handler: Parameters<Session['setDisplayMediaRequestHandler']>[0]): void {
    this.permissionHandlers.display = handler;
  }

  setProxy(config: ProxyConfig): Promise<void> {
    refuseUnknown('setProxy', config, ['mode', 'proxyRules', 'proxyBypassRules']);
    const { mode, proxyRules = '', proxyBypassRules } = config;
    // Otherwise Chromium would bypass it for names under .localhost.
    if (mode !== 'fixed_servers' || proxyBypassRules !== '<-loopback>' || !/^[\d.]+:\d+$/.test(proxyRules)) {
      fault('carries out one fixed proxy for everything only.');
    }
    this.#proxy = proxyRules;
    this.#connect();
    return Promise.resolve();
  }

  setCertificateVerifyProc(proc: VerifyProc | null): void {
    this.#verify = proc;
    this.#connect();
  }

  #connect(): void {
    this.network = this.#proxy === null || this.#verify === null ? null : { proxy: this.#proxy, verify: this.#verify };
  }

  setSpellCheckerEnabled(enable: boolean): void {
    this.#spellChecks = enable;
  }

  isSpellCheckerEnabled(): boolean {
    return this.#spellChecks;
  }
}

export const ownSession = new StandInSession();
export const defaultSession = ownSession.facade;

const partitions = new Map<string, StandInSession>();

/** The session that a program refers to by its argument. */
export const sessionOf = (facade: unknown): StandInSession =>
  [...partitions.values()].find((candidate) => candidate.facade === facade) ?? ownSession;

export const session = strictly('session', {
  get defaultSession() {
    requireReady('session.defaultSession');
    return defaultSession;
  },
  fromPartition(partition: string) {
    requireReady('session.fromPartition');
    if (partition.startsWith('persist:')) fault('carries out partitions in memory only.');
    let found = partitions.get(partition);
    if (found === undefined) partitions.set(partition, (found = new StandInSession()));
    return found.facade;
  },
});

/** Answers a request of a page: cancelled, from the handler of its scheme, or through the proxy of its session. */
export async function answerRequest(route: Route, asking: StandInSession): Promise<void> {
  const request = route.request();
  const url = fromChromium(request.url());
  if (await isCancelled(url, asking.beforeRequest)) return route.abort('blockedbyclient');
  const handler = handlers.get(new URL(url).protocol.replace(/:$/, ''));
  if (handler === undefined) {
    return asking.network === null ? route.abort('addressunreachable') : answerOverNetwork(route, asking.network);
  }
  const response = await handler(toRequest(url, request));
  await route.fulfill({
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  });
}

function isCancelled(url: string, listener: RequestListener | null): Promise<boolean> {
  if (listener === null) return Promise.resolve(false);
  const details = strictly('the details of a web request', { url }) as Parameters<RequestListener>[0];
  return new Promise((resolve) => {
    listener(details, (answer) => {
      refuseUnknown('the answer to onBeforeRequest', answer, ['cancel']);
      resolve(answer.cancel === true);
    });
  });
}

function toRequest(url: string, request: PageRequest): Request {
  const body = request.postDataBuffer();
  return new Request(url, {
    method: request.method(),
    headers: request.headers(),
    ...(body !== null && { body: new Uint8Array(body) }),
  });
}

/** Lets the program decide on a download; true if it may continue. */
export function mayDownload(url: string, contents: unknown, asking: StandInSession): boolean {
  const event = createEvent('will-download', {});
  asking.emit('will-download', event, strictly('a download', { getURL: () => url }), contents);
  return !event.defaultPrevented;
}

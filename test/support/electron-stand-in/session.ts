import type { Protocol, Session, WebRequest } from 'electron';
import type { Request as PageRequest, Route } from 'playwright-core';
import { fromChromium, privilegedSchemes } from './addresses.ts';
import { ownApp, requireReady } from './app.ts';
import { fault } from './driver.ts';
import { createEvent, refuseUnknown, StrictEmitter, strictly } from './strict.ts';

type SchemeHandler = Parameters<Protocol['handle']>[1];
type RequestListener = Exclude<Parameters<WebRequest['onBeforeRequest']>[0], null | { urls?: string[] }>;

const handlers = new Map<string, SchemeHandler>();
let beforeRequest: RequestListener | null = null;

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

/** Permission handlers, as the one session of the app has them. Without one, Electron permits. */
export const permissionHandlers: {
  request: Parameters<Session['setPermissionRequestHandler']>[0];
  check: Parameters<Session['setPermissionCheckHandler']>[0];
  device: Parameters<Session['setDevicePermissionHandler']>[0];
  display: Parameters<Session['setDisplayMediaRequestHandler']>[0];
} = { request: null, check: null, device: null, display: null };

class StandInSession
  extends StrictEmitter
  implements
    Pick<
      Session,
      | 'setPermissionRequestHandler'
      | 'setPermissionCheckHandler'
      | 'setDevicePermissionHandler'
      | 'setDisplayMediaRequestHandler'
      | 'setSpellCheckerEnabled'
      | 'isSpellCheckerEnabled'
      | 'protocol'
    >
{
  readonly protocol = protocol as Protocol;
  readonly webRequest = strictly('session.webRequest', {
    onBeforeRequest(...given: [RequestListener | null] | [unknown, RequestListener | null]) {
      if (given.length > 1) fault('carries out webRequest.onBeforeRequest without a filter only.');
      beforeRequest = given[0] as RequestListener | null;
    },
  });
  #spellChecks = true;

  constructor() {
    super('session', ['will-download']);
  }

  setPermissionRequestHandler(handler: Parameters<Session['setPermissionRequestHandler']>[0]): void {
    permissionHandlers.request = handler;
  }

  setPermissionCheckHandler(handler: Parameters<Session['setPermissionCheckHandler']>[0]): void {
    permissionHandlers.check = handler;
  }

  setDevicePermissionHandler(handler: Parameters<Session['setDevicePermissionHandler']>[0]): void {
    permissionHandlers.device = handler;
  }

  setDisplayMediaRequestHandler(handler: Parameters<Session['setDisplayMediaRequestHandler']>[0]): void {
    permissionHandlers.display = handler;
  }

  setSpellCheckerEnabled(enable: boolean): void {
    this.#spellChecks = enable;
  }

  isSpellCheckerEnabled(): boolean {
    return this.#spellChecks;
  }
}

export const ownSession = new StandInSession();
export const defaultSession = strictly('session.defaultSession', ownSession);

export const session = strictly('session', {
  get defaultSession() {
    requireReady('session.defaultSession');
    return defaultSession;
  },
});

/** Answers a request of a page: cancelled, or from the handler of its scheme. There is no network. */
export async function answerRequest(route: Route): Promise<void> {
  const request = route.request();
  const url = fromChromium(request.url());
  if (await isCancelled(url)) return route.abort('blockedbyclient');
  const handler = handlers.get(new URL(url).protocol.replace(/:$/, ''));
  if (handler === undefined) return route.abort('addressunreachable');
  const response = await handler(toRequest(url, request));
  await route.fulfill({
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  });
}

function isCancelled(url: string): Promise<boolean> {
  const listener = beforeRequest;
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

/** Lets the program decide on a download; true when it may go on. */
export function mayDownload(url: string, contents: unknown): boolean {
  const event = createEvent('will-download', {});
  ownSession.emit('will-download', event, strictly('a download', { getURL: () => url }), contents);
  return !event.defaultPrevented;
}

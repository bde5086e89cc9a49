import { sleep } from '../../main/base/clock.ts';

/** A page as Chromium lists it for debuggers. */
interface Target {
  type: string;
  url: string;
  webSocketDebuggerUrl: string;
}

interface Message {
  id?: number;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message: string };
}

interface Evaluation {
  result: { value?: unknown };
  exceptionDetails?: { text: string; exception?: { description?: string } };
}

/** One page, driven by the Chrome DevTools Protocol. */
export interface DrivenPage {
  send(method: string, params?: object): Promise<unknown>;
  /** Evaluates an expression as if the user had just clicked; awaits a promise. */
  run(expression: string): Promise<unknown>;
  /** Errors that the page has logged, after `Log.enable`. */
  errors: string[];
  close(): void;
}

const LOOK_MS = 100;
const WAIT_MS_MAX = 30_000;

/**
 * Polls until `find` returns something; an exception counts as nothing. @param whyNot stops as soon as it returns a
 * reason @throws Error that names `what`, with the reason or the last exception
 */
export async function until<Found>(
  what: string,
  find: () => Promise<Found | null> | Found | null,
  { waitMs = WAIT_MS_MAX, whyNot = () => null }: { waitMs?: number; whyNot?: () => string | null } = {},
): Promise<Found> {
  const end = performance.now() + waitMs;
  let failure = '';
  for (;;) {
    try {
      const found = await find();
      if (found !== null) return found;
    } catch (error) {
      failure = ` (${(error as Error).message})`;
    }
    const reason = whyNot();
    if (reason !== null) throw new Error(`no ${what}: ${reason}`);
    if (performance.now() > end) throw new Error(`not within ${waitMs / 1_000} s: ${what}${failure}`);
    await sleep(LOOK_MS);
  }
}

/** Attaches to the page whose address begins with `address`, once it exists. */
export async function attachTo(port: () => string, address: string): Promise<DrivenPage> {
  const target = await until(`a page at ${address}`, async () => {
    const response = await fetch(`http://127.0.0.1:${port()}/json/list`);
    const targets = (await response.json()) as Target[];
    return targets.find(({ type, url }) => type === 'page' && url.startsWith(address)) ?? null;
  });
  return attach(target.webSocketDebuggerUrl);
}

async function attach(debuggerUrl: string): Promise<DrivenPage> {
  const socket = new WebSocket(debuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('Chromium’s debugger does not answer'));
  });
  let lastId = 0;
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const errors: string[] = [];
  socket.onmessage = ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data)) as Message;
    if (method === 'Log.entryAdded') {
      const { entry } = params as { entry: { level: string; text: string } };
      if (entry.level === 'error') errors.push(entry.text);
    }
    const asked = id === undefined ? undefined : waiting.get(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error.message));
  };
  socket.onclose = () => {
    for (const { reject } of waiting.values()) reject(new Error('the page is gone'));
  };
  const send = (method: string, params: object = {}) => {
    const asked = Promise.withResolvers<unknown>();
    waiting.set(++lastId, asked);
    socket.send(JSON.stringify({ id: lastId, method, params }));
    return asked.promise;
  };
  return {
    send,
    errors,
    async run(expression) {
      const options = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
      const { result, exceptionDetails } = (await send('Runtime.evaluate', options)) as Evaluation;
      if (exceptionDetails === undefined) return result.value;
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    },
    close: () => socket.close(),
  };
}

import { hasBody } from '../../base/http/message.ts';
import type { Snapshot } from '../../model/route.ts';
import { failed } from '../problem.ts';
import type { UpstreamContext, UpstreamTarget } from '../route-table.ts';
import { countHops } from '../forwarded.ts';
import type { Forwarder, UpstreamOptions } from './forwarder.ts';

export interface Upstreams extends UpstreamTarget, Pick<Forwarder, 'sweep' | 'close'> {
  publish(snapshot: Snapshot): void;
}

/**
 * Loads the code that forwards requests (undici, http-proxy: some 10 MB of memory) with the first upstream. A request
 * that arrives earlier waits for it.
 */
export function createUpstreams(options: UpstreamOptions): Upstreams {
  let forwarder: Forwarder | null = null;
  let loading: Promise<Forwarder> | null = null;
  let closed = false;

  const load = (): Promise<Forwarder> =>
    (loading ??= import('./forwarder.ts').then(({ createForwarder }) => {
      forwarder = createForwarder(options);
      if (closed) forwarder.close();
      return forwarder;
    }));

  function explain(error: unknown, context: UpstreamContext): void {
    options.log.error('The code for upstreams could not be loaded', { error });
    context.answer(failed());
  }

  return {
    isPreflight: (request) =>
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined,
    hasPassedThroughHere: ({ headers }) => countHops(headers.via, options.pseudonym) > 0,
    handle(request, context) {
      if (forwarder !== null) {
        forwarder.handle(request, context);
        return;
      }
      // Others may already listen for the body, and would consume it.
      const body = hasBody(request) ? request : null;
      body?.pause();
      load().then(
        (loaded) => {
          if (context.response.destroyed) return;
          body?.resume();
          loaded.handle(request, context);
        },
        (error: unknown) => explain(error, context),
      );
    },
    upgrade(request, socket, head, context) {
      if (forwarder !== null) {
        forwarder.upgrade(request, socket, head, context);
        return;
      }
      load().then(
        (loaded) => {
          if (!socket.destroyed) loaded.upgrade(request, socket, head, context);
        },
        (error: unknown) => explain(error, context),
      );
    },
    publish({ routes }) {
      // If this fails, the first request reports it.
      if (forwarder === null && routes.some(({ target }) => target.kind === 'upstream')) load().catch(() => undefined);
    },
    sweep: (nowMs) => forwarder?.sweep(nowMs),
    close() {
      closed = true;
      forwarder?.close();
    },
  };
}

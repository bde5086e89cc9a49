import { createMappedHostnames, PAC_CONTENT_TYPE, renderPac } from '../reach/index.ts';
import type { DataPlane } from './data-plane.ts';

export type Reach = ReturnType<typeof openReach>;

/** Where the control port has the PAC file. */
export const PAC_PATH = '/proxy.pac';

/** How clients that know nothing of this machine's hostnames get to them. */
export function openReach({ dataPlane, controlUrl }: { dataPlane: DataPlane; controlUrl: () => string }) {
  const mapped = createMappedHostnames();
  const proxyPort = dataPlane.ports.http;
  return {
    publish: mapped.publish,
    pacFile: { contentType: PAC_CONTENT_TYPE, read: () => Buffer.from(renderPac(mapped.all(), proxyPort)) },
    proxy: () => ({
      url: `http://127.0.0.1:${proxyPort}`,
      pacUrl: controlUrl() + PAC_PATH,
      hostnames: mapped.size,
    }),
  };
}

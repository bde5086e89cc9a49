/** Registered nowhere, and what browsers and systems know the file by. */
export const PAC_CONTENT_TYPE = 'application/x-ns-proxy-autoconfig';

/**
 * A proxy auto-configuration file: exactly `hostnames` (in normal form) go through the proxy at `proxyPort` of this machine, everything
 * else goes its own way. In the JavaScript of 1999, because Windows still runs it with that.
 */
export function renderPac(hostnames: Iterable<string>, proxyPort: number): string {
  const entries = [...hostnames].sort().map((hostname) => `${JSON.stringify(hostname)}: 1`);
  return `// The hostnames that Vivarium serves go through its proxy, everything else as if there were none.
var mapped = {
${entries.join(',\n')}
};

function FindProxyForURL(url, host) {
  host = host.toLowerCase().replace(/\\.$/, "");
  return Object.prototype.hasOwnProperty.call(mapped, host) ? "PROXY 127.0.0.1:${proxyPort}" : "DIRECT";
}
`;
}

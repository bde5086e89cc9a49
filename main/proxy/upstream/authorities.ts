import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

let context: SecureContext | undefined;

/**
 * The trusted CAs for upstreams: Node's, including NODE_EXTRA_CA_CERTS, and the system's, which include developer CAs
 * (mkcert). Reading the system's takes a tenth of a second, so it is done once, on first use.
 */
export function machineTrust(): SecureContext {
  context ??= createSecureContext({
    ca: [...new Set([...getCACertificates('default'), ...getCACertificates('system')])],
  });
  return context;
}

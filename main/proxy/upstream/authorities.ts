import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

let context: SecureContext | undefined;

/**
 * Whom this machine trusts to sign for an upstream: the authorities that Node has or was told of (NODE_EXTRA_CA_CERTS), and
 * those of the system, where a developer's own is (mkcert). Reading the system's takes a tenth of a second, so it is done
 * when it is first needed, and once: Node would not read them again.
 */
export function machineTrust(): SecureContext {
  context ??= createSecureContext({
    ca: [...new Set([...getCACertificates('default'), ...getCACertificates('system')])],
  });
  return context;
}

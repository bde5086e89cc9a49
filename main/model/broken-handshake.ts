import type { SecureContext } from 'node:tls';

/** What a TLS listener does with a client instead of the usual handshake. */
export type BrokenHandshake =
  /** Another certificate, or other terms. */
  | {
      kind: 'handshake';
      context: SecureContext;
      /** What is chosen from, in order; null answers without ALPN (RFC 7301). */
      protocols: readonly string[] | null;
      /** Clients that do not choose HTTP/2 get 403, as servers of Node answer that have nothing else. */
      http2Only: boolean;
      /** Demands a certificate of the client; any will do. */
      clientCertificate: boolean;
    }
  /** The fatal alert for a name that the server does not have (RFC 6066 §3). */
  | { kind: 'unrecognized_name' }
  /** Reads what the client sends, and answers nothing until the listener's time limit ends the connection. */
  | { kind: 'stall' };

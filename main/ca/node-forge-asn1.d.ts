/**
 * Types for the one file of node-forge in use: the import of the whole package takes six times as long (30 ms instead
 * of 5).
 */
declare module 'node-forge/lib/asn1.js' {
  export interface Asn1 {
    tagClass: number;
    type: number;
    constructed: boolean;
    /** Child nodes of a constructed value, or the content octets, one per character. */
    value: string | Asn1[];
  }

  interface ByteBuffer {
    getBytes(): string;
  }

  const asn1: {
    create(tagClass: number, type: number, constructed: boolean, value: string | Asn1[]): Asn1;
    toDer(node: Asn1): ByteBuffer;
    fromDer(bytes: string, options: { strict: boolean; parseAllBytes: boolean; decodeBitStrings: boolean }): Asn1;
    oidToDer(oid: string): ByteBuffer;
    derToOid(bytes: string): string;
  };
  export default asn1;
}

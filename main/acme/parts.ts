import type { KeyObject } from 'node:crypto';
import type { AdjustableClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { RevocationReason, CaaVerdict } from '../contract/certificates.ts';
import type { AcmeIdentifier, AcmeMethod, AcmeRows } from '../model/acme.ts';
import type { LeafDates, Revocation } from '../model/leaf.ts';
import type { AcmeFaults } from './faults.ts';
import type { RequestedNames } from './identifiers.ts';
import type { Outcome, Task } from './outcome.ts';
import type { Rates } from './rates.ts';
import type { Refusals } from './problem.ts';

/** A parsed CSR with a verified signature and a sufficiently strong key. */
export interface CertificateRequest extends RequestedNames {
  readonly publicKey: KeyObject;
}

export interface AcmeIssuer {
  /** Why the CA may not sign for a name, with the command that permits it; null if it may. */
  refusal(identifier: AcmeIdentifier): string | null;
  /** The latest notAfter of a certificate, in real time. */
  notAfterMs(): number;
  /** The identifier of the CA's key, in hexadecimal. */
  keyIdentifier(): string;
  issue(request: { publicKey: KeyObject; names: readonly string[]; dates: LeafDates }): { serial: string; pem: string };
  /** The certificates above a leaf, in PEM: the default chain, then alternate ones. */
  chains(pem: string): readonly (readonly string[])[];
}

/** Checks whether CAA permits a certificate for a name that an account validated by a method. */
export interface CaaQuestion {
  readonly name: string;
  readonly method: AcmeMethod;
  readonly accountUri: string;
}

export interface AcmeParts {
  clock: Pick<AdjustableClock, 'state' | 'realTimer'>;
  log: Pick<Log, 'error'>;
  rows: AcmeRows;
  issuer: AcmeIssuer;
  /** Reads a CSR in DER. @throws Error whose message explains what is wrong. */
  readRequest(der: Buffer): CertificateRequest;
  validate(method: AcmeMethod, task: Task): Promise<Outcome>;
  askCaa(question: CaaQuestion): Promise<CaaVerdict>;
  externalAccountRequired(): boolean;
  /** The CA's name in CAA records. */
  caaDomain(): string;
  revocations: {
    get(serial: string): { reason: RevocationReason; wireAtMs: number } | null;
    insert(row: Revocation & { atMs: number; wireNotAfterMs: number }): void;
  };
  /** The origin of all URLs, such as `https://localhost:8443`. */
  origin(): string;
  rates: Rates;
  refusals: Pick<Refusals, 'add'>;
  faults: AcmeFaults;
  registeredDomain(hostname: string): string;
  /** Called when something that a view shows has changed. */
  onChanged(): void;
}

import type { AcmeMethod } from '../model/acme.ts';
import type { Answered, Outcome, Task } from './outcome.ts';
import type { EpochMs } from '../base/clock.ts';
import { accountLabel, validateDns, validateDnsPersist } from './validate-dns.ts';
import { type HttpValidation, validateHttp } from './validate-http.ts';
import { type TlsValidation, validateTls } from './validate-tls.ts';

/** Validates by any method. Failures are returned as outcomes, never thrown. */
export const createValidation =
  (options: {
    resolve: HttpValidation['resolve'];
    texts: (name: string) => Promise<Answered>;
    localPort: HttpValidation['localPort'];
    arriving: HttpValidation['arriving'];
    tlsPort: () => number;
    readCertificate: TlsValidation['readCertificate'];
    userAgent: string;
    /** The CA's name in records. */
    issuer: () => string;
    now: () => EpochMs;
  }) =>
  (method: AcmeMethod, task: Task): Promise<Outcome> => {
    switch (method) {
      case 'http-01':
        return validateHttp(task, options);
      case 'dns-01':
        return validateDns(task, options.texts);
      case 'dns-account-01':
        return validateDns(task, options.texts, accountLabel(task.accountUri));
      case 'dns-persist-01':
        return validateDnsPersist(task, { texts: options.texts, issuer: options.issuer(), nowMs: options.now() });
      case 'tls-alpn-01':
        return validateTls(task, { ...options, port: options.tlsPort() });
    }
  };

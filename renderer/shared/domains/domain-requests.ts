import type { StatusReport } from '../../../main/contract/status.ts';

/** A domain's URL at this machine's listeners, without default ports. */
export function domainUrl(hostname: string, secure: boolean, ports: StatusReport['ports']): string {
  const port = secure ? ports.https : ports.http;
  const usual = port === (secure ? 443 : 80);
  return `${secure ? 'https' : 'http'}://${hostname}${usual ? '' : `:${port}`}`;
}

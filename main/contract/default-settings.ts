import type { Settings } from './settings.ts';

/** The settings of a first start, in a file without dependencies for the renderer to import. */
export const DEFAULT_SETTINGS: Settings = {
  banAfter: 20,
  banDuration: 'PT10M',
  cors: '*',
  propagation: 'PT0S',
  resolver: 'local',
  httpsRecords: true,
  dohForwardsProbe: false,
  issuanceDelay: 'PT0S',
  caaIdentity: { domain: 'vivarium.localhost', accountUri: 'https://vivarium.localhost/acct/1', method: 'http-01' },
  acmeHttpPort: 5002,
  acmeTlsPort: 5001,
  acmeExternalAccounts: false,
  acmeLimits: false,
  acmePerspectives: [],
  acmeRates: [],
  secretNames: [],
  trustedProxies: [],
  serverTiming: false,
  rateLimitFields: false,
  traffic: { record: true, bodies: true },
  caKey: 'file',
};

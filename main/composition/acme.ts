import { DEFAULT_PROFILE } from '../acme/profiles.ts';
import { createRates } from '../acme/rates.ts';
import { createRefusals } from '../acme/problem.ts';
import { directoryUrl, REQUEST_OCTETS_MAX } from '../acme/resources.ts';
import type { Endpoint } from '../acme/endpoint.ts';
import type { AcmeAnswer } from '../acme/requests.ts';
import type { CaaQuestion } from '../acme/parts.ts';
import type { Seen } from '../acme/outcome.ts';
import { PLATFORM_ZONE, VERSION } from '../base/config.ts';
import { isWithin, originOf } from '../base/text/hostname.ts';
import { bodyOf } from '../base/http/answer.ts';
import { readChallengeCertificate } from '../ca/certificate.ts';
import { readSigningRequest } from '../ca/signing-request.ts';
import { isWildcard, wildcardOver } from '../contract/hostnames.ts';
import { caaLookupOver } from '../domains/checks/resolution.ts';
import { apexOf } from '../domains/public-suffix.ts';
import type { AcmeIdentifier } from '../model/acme.ts';
import type { FaultSource } from '../model/fault.ts';
import { explainCaa } from '../model/caa/walk.ts';
import type { DnsLookup } from '../model/dns-lookup.ts';
import { type OwnPath, refusal, readBody } from '../proxy/front/own-paths.ts';
import { createAcmeDns } from '../services/certificates/acme.ts';
import type { ListenerPorts } from '../services/projects/projects.ts';
import type { Certificates } from './certificates.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';

export type Acme = ReturnType<typeof openAcme>;

/** Builds the ACME server from this machine's DNS, CAA, clock and root; its code is loaded with the first request. */
export function openAcme(
  { clock, log, store, events, settings }: Foundation,
  parts: {
    certificates: Certificates;
    dns: Dns;
    domains: Domains;
    ports: () => ListenerPorts;
    faults: FaultSource;
  },
) {
  const { certificates, dns, domains, ports } = parts;
  const origin = (): string => originOf('https', 'localhost', ports().https);
  const rates = createRates({
    now: () => clock.now(),
    enforced: () => settings.current().acmeLimits,
    changed: () => settings.inForce().acmeRates,
  });
  const refusals = createRefusals();
  let loaded: Promise<Endpoint> | null = null;
  const load = (): Promise<Endpoint> => (loaded ??= open());
  store.snapshots.onRestored(() => {
    loaded = null;
    rates.reset();
    refusals.clear();
  });

  /** Whether Vivarium's listeners serve a hostname. */
  const isServed = (hostname: string): boolean =>
    isWithin(hostname, PLATFORM_ZONE) ||
    domains.lifecycle.find(hostname) !== null ||
    domains.lifecycle.find(wildcardOver(hostname)) !== null;

  /** The CA's own perspective, or a remote one. */
  const caaOf = (lookup: DnsLookup, { name, method, accountUri }: CaaQuestion) =>
    explainCaa({
      ...{ hostname: name, method, accountUri },
      wildcard: isWildcard(name),
      issuer: settings.current().caaIdentity.domain,
      lookup: caaLookupOver(lookup),
    });

  /** Asks each remote perspective separately. */
  const askRemotes = <Result>(ask: (lookup: DnsLookup) => Promise<Result>): Promise<Seen<Result>[]> =>
    Promise.all(
      settings.inForce().acmePerspectives.map(async (server, index) => {
        const { lookup, name } = dns.perspective(server);
        return { by: `perspective ${index + 1} (${name})`, result: await ask(lookup) };
      }),
    );

  async function open(): Promise<Endpoint> {
    const [{ createEndpoint }, { createValidation }, { createAcmeFaults }, { corroborate, corroborateCaa }] =
      await Promise.all([
        import('../acme/endpoint.ts'),
        import('../acme/validation.ts'),
        import('../acme/faults.ts'),
        import('../acme/outcome.ts'),
      ]);
    const faults = createAcmeFaults(parts.faults, { now: () => clock.now() });
    const { requested } = certificates;
    const validationBy = (lookup: DnsLookup) => {
      const { addresses, texts } = createAcmeDns(lookup);
      return createValidation({
        resolve: addresses,
        texts,
        localPort(hostname, scheme) {
          const { acmeHttpPort, acmeTlsPort } = settings.current();
          const standalone = scheme === 'http' ? acmeHttpPort : acmeTlsPort;
          // A name that Vivarium serves is proved where it is served, not by any program of this machine.
          return isServed(hostname) ? ports()[scheme] : standalone;
        },
        tlsPort: () => settings.current().acmeTlsPort,
        readCertificate: readChallengeCertificate,
        issuer: () => settings.current().caaIdentity.domain,
        now: () => clock.now(),
        userAgent: `Vivarium/${VERSION} (ACME validation)`,
        arriving: faults.arriving,
      });
    };
    return createEndpoint({
      ...{ clock, log, origin },
      rows: store.acme,
      issuer: {
        ...requested,
        refusal: (identifier) => (requested.permits(identifier.value) ? null : refused(identifier)),
      },
      readRequest: readSigningRequest,
      async validate(method, task) {
        const primary = await validationBy(dns.lookup)(method, task);
        if (primary.error !== null) return primary;
        return corroborate(primary, await askRemotes((lookup) => validationBy(lookup)(method, task)));
      },
      async askCaa(question) {
        const primary = await caaOf(dns.lookup, question);
        if (primary.verdict !== 'allowed') return primary;
        return corroborateCaa(primary, await askRemotes((lookup) => caaOf(lookup, question)));
      },
      ...{ rates, refusals, faults, registeredDomain: apexOf },
      externalAccountRequired: () => settings.current().acmeExternalAccounts,
      caaDomain: () => settings.current().caaIdentity.domain,
      revocations: store.revocations,
      onChanged: () => events.emit('acme.changed'),
    });
  }

  return {
    path: acmePath(load, log),
    directoryUrl: () => directoryUrl(origin(), DEFAULT_PROFILE),
    server: { rates, refusals, origin, endpoint: load },
  };
}

/** The server as a path of the proxy. */
const acmePath =
  (load: () => Promise<Endpoint>, log: Foundation['log']): OwnPath =>
  ({ method, target, scheme, headers, address, body: source }, answer) => {
    if (scheme === 'http') return answer(refusal(403, 'ACME is at the HTTPS port.'));
    const send = async (body: Buffer): Promise<void> => {
      try {
        const endpoint = await load();
        const contentType = headers['content-type'];
        answer(toAnswer(await endpoint.answer({ method, target, contentType, address, body })));
      } catch (error) {
        log.error('The ACME server could not be loaded', { error });
        answer(refusal(500, 'The ACME server could not be loaded.'));
      }
    };
    if (method === 'POST') readBody(source, REQUEST_OCTETS_MAX, (body) => void send(body));
    else void send(Buffer.alloc(0));
  };

const refused = ({ type, value }: AcmeIdentifier): string =>
  type === 'ip'
    ? `The root may not sign for ${value}: it is not a loopback address.`
    : `The root may not sign for ${value}. To permit it: vivarium ca extend ${apexOf(value)}`;

function toAnswer({ status, headers, body }: AcmeAnswer) {
  const sent = body === null ? null : bodyOf(body);
  const length = sent?.length ?? (status === 204 ? null : '0');
  return {
    status,
    body: sent,
    headers: [...headers, ...(length === null ? [] : ['Content-Length', length]), 'X-Content-Type-Options', 'nosniff'],
    close: false,
  };
}

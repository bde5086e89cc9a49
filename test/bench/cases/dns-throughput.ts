import { type DnsLoad, runDnsperf, warmUp, writeQuestions } from '../dnsperf.ts';
import { compare, end, type Figure, perSecond, portOf, startNode, startVivarium, temporaryFolder } from '../harness.ts';

const OWNER = 'www.acme.test';
const TARGET = 'cname.vivarium.localhost';

/** Answers per second for an A through a CNAME, compared with dns2 alone and with a socket that echoes. */
export async function dnsThroughput(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  await vivarium.call('zones.create', { name: 'acme.test' });
  await vivarium.call('records.put', { zone: 'acme.test', name: 'www', type: 'CNAME', value: TARGET });
  const bare = await startNode(['test/bench/peers/bare-dns2.ts', OWNER, TARGET, '127.0.0.1'], portOf);
  const echo = await startNode(['test/bench/peers/udp-echo.ts'], portOf);

  const questions = writeQuestions([OWNER]);
  const own = { child: vivarium.child, port: vivarium.runtime.dns.port };
  const peers = [bare, echo].map(({ child, ready }) => ({ child, port: ready }));
  for (const server of [own, ...peers]) warmUp({ server, questions });
  const beside = (server: DnsLoad['server'] | undefined = own, edns = false) =>
    compare(
      { child: own.child, load: () => runDnsperf({ server: own, questions, edns }) },
      { child: server.child, load: () => runDnsperf({ server, questions, edns }) },
      ({ answersPerSecond }) => answersPerSecond,
    );
  const [dns2, dns2WithEdns, echoed] = [beside(peers[0]), beside(peers[0], true), beside(peers[1])];
  for (const { child } of [vivarium, bare, echo]) await end(child);

  const figure = (what: string, result: ReturnType<typeof beside>, least: number, required: boolean): Figure => ({
    what,
    measured: `${result.ratio.toFixed(2)} ×`,
    wanted: required ? `≥ ${least} ×` : `shown; ${least} × is the aim`,
    met: required ? result.ratio >= least : null,
    detail: `${perSecond(result.a)} against ${perSecond(result.b)}; ${result.cost}`,
  });
  return [
    figure('DNS answers, A through a CNAME, by processor time, against bare dns2 from a Map', dns2, 0.8, true),
    figure('the same, asked with EDNS', dns2WithEdns, 0.8, true),
    figure('the same against a node:dgram echo', echoed, 0.5, false),
  ];
}

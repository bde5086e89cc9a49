/** dns2 alone, as in its own example: a CNAME and its target's A from a Map, for every question. */
import { Packet, UDPServer } from 'dns2';

const [owner = '', target = '', address = ''] = process.argv.slice(2);
const shared = { class: Packet.CLASS.IN, ttl: 3600 };
const answers = new Map([
  [
    owner,
    [
      Object.assign(new Packet.Resource(), { ...shared, name: owner, type: Packet.TYPE.CNAME, domain: target }),
      Object.assign(new Packet.Resource(), { ...shared, name: target, type: Packet.TYPE.A, address }),
    ],
  ],
]);
const server = new UDPServer((request, send) => {
  const response = Packet.createResponseFromRequest(request);
  response.answers = answers.get(request.questions[0]?.name ?? '') ?? [];
  void send(response);
});
await server.listen(0, '127.0.0.1');
process.stdout.write(`port ${server.address().port}\n`);
process.on('SIGTERM', () => process.exit(0));
